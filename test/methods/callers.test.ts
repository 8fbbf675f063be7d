import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Reason } from '../../src/methods/failure.ts';
import { expectFailure } from './support/failing.ts';
import { methodDevice } from './support/methodDevice.ts';
import { type CallOptions, conveyor, type Place, spare, startPlace } from './support/place.ts';

// Who may invoke, and what there is to invoke (M2, M4, M5).

let place: Place;
beforeAll(async () => {
  place = await startPlace({ settings: { BACKENDS_CONNECTIONS: '8' } });
});
afterAll(() => place.close());

const as = (name: keyof Place['tokens']) => (): CallOptions => ({ token: place.tokens[name] });
const otherPath = (change: (path: string) => string) => (): CallOptions => ({
  path: change(place.pathOf(conveyor, 'stop')),
});
const nowhere = '00000000-0000-4000-8000-000000000000';

describe('an invocation is refused', () => {
  it.each<[string, () => CallOptions, number, Reason, RegExp]>([
    ['without a token', () => ({ token: '' }), 401, 'unauthorized', /bearer token is required/],
    ['with a password', () => ({ headers: { authorization: 'Basic eDp5' } }), 401, 'unauthorized', /the word Bearer/],
    ['with two tokens', () => ({ token: 'a b' }), 401, 'unauthorized', /one space and a token/],
    ['with a token of nobody', () => ({ token: 'abc' }), 401, 'unauthorized', /does not accept the token/],
    ['with an expired token', as('expired'), 401, 'unauthorized', /get a new one/],
    ['of one who may only read', as('reader'), 403, 'forbidden', /may not invoke/],
    ['of another tenant', as('stranger'), 404, 'object_not_found', /has no object model of this object id and model/],
    [
      'of an object that is nowhere',
      otherPath((path) => path.replace(/objects\/[^/]+/, `objects/${nowhere}`)),
      404,
      'object_not_found',
      /no object model/,
    ],
    [
      'of another model of the object',
      otherPath((path) => path.replace('svc.device', 'svc.configuration')),
      404,
      'object_not_found',
      /no object model/,
    ],
    [
      'of a method of no type',
      otherPath((path) => path.replace('stop', 'explode')),
      404,
      'method_not_found',
      /declare/,
    ],
    ...['__proto__', 'constructor', 'toString'].map(
      (name) =>
        [
          `of a method named ${name}`,
          otherPath((path) => path.replace('stop', name)),
          404,
          'method_not_found',
          /declare/,
        ] as [string, () => CallOptions, number, Reason, RegExp],
    ),
    [
      'of an object id that is none',
      otherPath((path) => path.replace(/objects\/[^/]+/, 'objects/motor-1')),
      400,
      'invalid_request',
      /must be a GUID/,
    ],
    [
      'of a model with a detour',
      otherPath((path) => path.replace('svc.device', '..%2Fsvc.device')),
      400,
      'invalid_request',
      /must be a model identifier/,
    ],
  ])('%s', async (_, options, status, reason, sentence) => {
    await expectFailure(place, await place.call(conveyor, 'stop', {}, options()), status, reason, sentence);
  });

  it('of an object that nobody owns', async () => {
    await expectFailure(place, await place.call(spare, 'stop'), 409, 'no_owner', /nobody owns this object model/);
  });

  it('on a path that is none, or with a path that is no text', async () => {
    for (const [method, path, status] of [
      ['GET', place.pathOf(conveyor, 'stop'), 404],
      ['POST', '/objects', 404],
      ['POST', '/objects/%ff/models/x/methods/y', 400],
    ] as const) {
      const called = await place.call(conveyor, 'stop', method === 'GET' ? '' : {}, { method, path });
      expect([path, called.status]).toEqual([path, status]);
    }
  });
});

describe('what the information model says of a caller', () => {
  it('is not logged with claims of a token that it has not accepted', async () => {
    const called = await place.call(conveyor, 'stop', {}, { token: place.tokens.expired });
    const line = await place.lineOf(called.headers['x-correlation-id']);
    expect(line).not.toHaveProperty('caller');
  });

  it('comes before the body is looked at', async () => {
    const called = await place.call(conveyor, 'stop', 'no json', { token: place.tokens.reader });
    expect(called.status).toBe(403);
  });
});

describe('a thousand wrong tokens', () => {
  it('keep no good caller out, open no circuit and renew nothing', async () => {
    const { journal } = place.backends;
    const motor = await methodDevice(place.hub, 'motor-1', (call) => call.respond(200, { status: 1 }));
    try {
      const wrong = Array.from({ length: 1_000 }, (_, index) =>
        place.call(conveyor, 'stop', {}, { token: `wrong-${index}` }),
      );
      const good = Array.from({ length: 9 }, () => place.call(conveyor, 'stop'));
      const answered = (calls: typeof wrong) => Promise.all(calls.map(async (call) => (await call).status));
      expect(new Set(await answered(good))).toEqual(new Set([200]));
      expect(new Set(await answered(wrong))).toEqual(new Set([401]));
      expect(journal.entries().filter(({ backend }) => backend === 'token').length).toBeLessThanOrEqual(1);
      expect(place.lines.filter(({ msg }) => /out|refuses our/.test(String(msg)))).toEqual([]);
    } finally {
      await motor.close();
    }
  });
});
