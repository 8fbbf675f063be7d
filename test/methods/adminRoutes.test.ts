import { expect, it, vi } from 'vitest';
import { createLog } from '../../src/log/log.ts';
import { frontDoorRoutes } from '../../src/methods/frontDoor.ts';
import { noMeter } from '../../src/metrics/meter.ts';
import { createInvocationRecords } from '../../src/observing/invocationRecords.ts';
import { withFakeTimers } from '../support/waiting.ts';

withFakeTimers();

const records = createInvocationRecords({ log: createLog('silent'), meter: noMeter, hubHost: '' });
const named = { objectId: 'o', model: 'm', method: 'stop' };
const begin = (correlationId: string) => records.begin({ correlationId, ...named });

it('operators see the hundred oldest invocations in progress, with their age and what each waits for', async () => {
  const begun = Array.from({ length: 101 }, (_, index) => begin(`c-${index}`));
  void begun[1]?.waitsFor('sign the files', 'file storage', new Promise(() => {}));
  void begun[1]?.waitsFor('method stop', 'device', new Promise(() => {}));
  vi.advanceTimersByTime(4_000);
  const routes = frontDoorRoutes({
    handler: { requests: () => begun, inProgress: () => begun.length },
    backends: { states: () => ({ informationModel: { circuit: 'open' } }) as never },
  });
  expect(Object.values(routes).map(({ about }) => about.length > 10)).toEqual([true, true]);
  expect(await routes['/backends']?.get?.({} as never)).toEqual({ informationModel: { circuit: 'open' } });
  const shown = (await routes['/requests']?.get?.({} as never)) as {
    readonly inProgress: number;
    readonly requests: readonly Record<string, unknown>[];
  };
  expect([shown.inProgress, shown.requests.length]).toEqual([101, 100]);
  expect(shown.requests[0]).toMatchObject({
    correlationId: 'c-0',
    ...named,
    seconds: 4,
    waitsFor: 'its body, or nothing',
  });
  expect(shown.requests[1]).toMatchObject({
    waitsFor: 'an answer of the file storage (sign the files); an answer of the device (method stop)',
  });
});
