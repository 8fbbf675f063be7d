import { describe, expect, it } from 'vitest';
import { startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import type { Reason } from '../../src/protocol/vocabulary.ts';
import { expectFailure } from './support/expectFailure.ts';
import { methodDevice, succeed } from './support/methodDevice.ts';
import { type CallOptions, conveyor, startTestFrontDoor, type TestFrontDoor } from './support/testFrontDoor.ts';

// Authorization, objects and methods (M2, M4, M5): one by one in requests.test.ts and requestHandler.test.ts.

const setup = startForAll(() => startTestFrontDoor({ settings: { BACKENDS_CONNECTIONS: '8' } }));

const as = (name: keyof TestFrontDoor['tokens']) => (): CallOptions => ({ token: setup.tokens[name] });
const named = (method: string) => (): CallOptions => ({ path: setup.pathOf(conveyor, method) });

type Row = [what: string, options: () => CallOptions, status: number, reason: Reason, sentence: RegExp];

describe('an invocation is refused', () => {
  it.each<Row>([
    ['without a token {S23.8}', () => ({ token: '' }), 401, 'unauthorized', /bearer token is required/],
    ['of a caller who may only read {S23.8}', as('reader'), 403, 'forbidden', /may not invoke/],
    [
      'of another tenant {S23.8}',
      as('stranger'),
      404,
      'object_not_found',
      /has no object model with this object id and model/,
    ],
    [
      'of a method that is not declared {S23.1}',
      named('explode'),
      404,
      'method_not_found',
      /^neither the type "motor@1.*" of this object nor its base types declare the method "explode"$/,
    ],
  ])('%s', async (_, options, status, reason, sentence) => {
    await expectFailure(setup, await setup.call(conveyor, 'stop', {}, options()), status, reason, sentence);
  });

  it('on an unknown path, or on a path that is not UTF-8 {S23.2}', async () => {
    for (const [method, path, status] of [
      ['GET', setup.pathOf(conveyor, 'stop'), 404],
      ['POST', '/objects', 404],
      ['POST', '/objects/%ff/models/x/methods/y', 400],
    ] as const) {
      const called = await setup.call(conveyor, 'stop', method === 'GET' ? '' : {}, { method, path });
      expect([path, called.status]).toEqual([path, status]);
    }
  });
});

describe('a thousand wrong tokens', () => {
  void startForAll(() => methodDevice(setup.hub, 'motor-1', succeed));

  it('do not block authorized callers, open a circuit or renew a token', async () => {
    const { backends } = setup;
    const good: ReturnType<typeof setup.call>[] = [];
    const statuses: number[] = [];
    let sent = 0;
    async function guess() {
      while (sent < 1_000) {
        sent += 1;
        if (sent % 100 === 0) good.push(setup.call(conveyor, 'stop'));
        statuses.push((await setup.call(conveyor, 'stop', {}, { token: `wrong-${sent}` })).status);
      }
    }
    // More at once than connections to the information model, and few enough to be judged in time by a busy machine.
    await Promise.all(Array.from({ length: 25 }, guess));
    expect([statuses.length, ...new Set(statuses)]).toEqual([1_000, 401]);
    expect((await Promise.all(good)).map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(backends.calls().filter(({ backend }) => backend === 'token').length).toBeLessThanOrEqual(1);
    expect(setup.lines.filter(({ msg }) => /out|refuses our/.test(String(msg)))).toEqual([]);
  });
});
