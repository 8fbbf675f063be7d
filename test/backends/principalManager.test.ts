import { describe, expect, it, vi } from 'vitest';
import { withFakeTimers } from '../support/waiting.ts';
import { answers, callOf, rejection, scripted } from './harness.ts';

withFakeTimers();

const device = { id: 'p1', identity: 'd1', path: 'd1', parentId: null };
const edge = { id: 'p2', identity: 'edge', path: 'd1/edge', parentId: 'p1' };

describe('the principal manager', () => {
  it.each([
    ['the device itself', '', undefined, 'GET /devices?device=d1'],
    ['a connected identity', 'edge/sensor 1', undefined, 'GET /devices?device=d1&path=edge%2Fsensor%201'],
    ['a child of the device', '', 'edge', 'GET /devices?device=d1&identity=edge'],
    ['a child of an identity', 'edge', 'sensor', 'GET /devices?device=d1&path=edge&identity=sensor'],
    ['a name with a slash, which stays one name', '', 'a/b', 'GET /devices?device=d1&identity=a%2Fb'],
    ['a name that would climb a path', '', '..', 'GET /devices?device=d1&identity=..'],
    ['a name that would add a parameter', '', 'x&device=d2', 'GET /devices?device=d1&identity=x%26device%3Dd2'],
  ])('resolves %s', async (_, path, identity, call) => {
    const { principalManager } = scripted([{ call, reply: [200, { data: [edge] }] }]);
    expect(await principalManager.resolve(path, identity)).toEqual(edge);
  });

  it('is asked for each pair of path and name separately, even if they are equal when joined', async () => {
    const asked: [string, string | undefined, string][] = [
      ['a', 'b/c', '&path=a&identity=b%2Fc'],
      ['a', 'b', '&path=a&identity=b'],
      ['a', undefined, '&path=a'],
      ['a/b', 'c', '&path=a%2Fb&identity=c'],
      ['a/b/c', undefined, '&path=a%2Fb%2Fc'],
      ['', 'a/b/c', '&identity=a%2Fb%2Fc'],
    ];
    const { backends } = scripted(
      asked.map(([, , query], index) => ({
        call: `GET /devices?device=d1${query}`,
        reply: [200, { data: [{ ...edge, id: `p${index}` }] }],
      })),
    );
    const { principalManager } = backends.bind(callOf());
    const ids: (string | undefined)[] = [];
    for (const [path, identity] of asked) ids.push((await principalManager.resolve(path, identity))?.id);
    expect(ids).toEqual(asked.map((_, index) => `p${index}`));
  });

  it('returns undefined for an identity that does not exist, and is asked again the next time', async () => {
    const call = 'GET /devices?device=d1&path=edge';
    const { principalManager } = scripted(answers(call, [200, { data: [] }], [200, { data: [edge] }]));
    expect(await principalManager.resolve('edge')).toBe(undefined);
    expect(await principalManager.resolve('edge')).toEqual(edge);
  });

  it.each([
    ['two identities', { data: [device, edge] }],
    ['an identity without an id', { data: [{ ...edge, id: '' }] }],
    ['no list', {}],
  ])('fails as a backend when it answers with %s', async (_, body) => {
    const { principalManager } = scripted([{ call: 'GET /devices?device=d1', reply: [200, body] }]);
    expect((await rejection(principalManager.resolve(''))).code).toBe('internal_platform_error');
  });

  // `http://pm.invalid/devices?device=d1` has 35 bytes, `&path=` 6 and `&identity=` 10.
  it.each([
    ['property owner is', 8_192 - 35 - 6, undefined],
    ['body.identity is', 0, 8_192 - 35 - 10],
    ['property parent and body.identity are together', 100, 8_192 - 35 - 6 - 100 - 10],
  ])('is asked with URLs of 8,192 bytes at most: %s too long', async (what, pathLength, identityLength) => {
    const [path, identity] = [pathLength, identityLength].map((length) => 'a'.repeat(length ?? 0));
    const call = `GET /devices?device=d1${path && `&path=${path}`}${identity && `&identity=${identity}`}`;
    const { principalManager } = scripted([{ call, reply: [200, { data: [edge] }] }], {
      principalManagerUrl: 'http://pm.invalid///',
    });
    expect(await principalManager.resolve(path ?? '', identity || undefined)).toEqual(edge);
    const resolving = identity
      ? principalManager.resolve(path ?? '', `${identity}a`)
      : principalManager.resolve(`${path}a`);
    const { code, details } = await rejection(resolving);
    expect([code, details]).toEqual([
      'validation_error',
      `${what} too long: the URL of a backend call would have more than 8192 bytes`,
    ]);
  });

  type Client = ReturnType<ReturnType<typeof scripted>['backends']['bind']>['principalManager'];
  it.each<[operation: string, call: string, status: number, begin: (client: Client) => Promise<unknown>]>([
    ['resolve identity', 'GET /devices?device=d1', 400, (client) => client.resolve('')],
    ['update identity', 'PUT /devices/p2', 404, (client) => client.updateIdentity('p2', '{}')],
    ['delete identity', 'DELETE /devices/p2', 400, (client) => client.deleteIdentity('p2', true)],
  ])('is named in the details when it refuses to %s', async (operation, call, status, begin) => {
    const { principalManager } = scripted([{ call, reply: [status] }]);
    const refusal = await rejection(begin(principalManager));
    expect(refusal.details).toBe(`principal manager: ${operation} failed with HTTP ${status}`);
  });

  it('is asked again after a short while', async () => {
    const call = 'GET /devices?device=d1';
    const { backends } = scripted(answers(call, [200, { data: [device] }], [200, { data: [] }]));
    const resolve = () => backends.bind(callOf()).principalManager.resolve('');
    expect([await resolve(), await resolve()]).toEqual([device, device]);
    vi.advanceTimersByTime(30_000);
    expect(await resolve()).toBe(undefined);
  });

  it.each([
    ['updated', 'PUT /devices/p2', [200, 'whatever']],
    ['updated in vain', 'PUT /devices/p2', [403]],
    ['deleted', 'DELETE /devices/p2', [204]],
  ] as [string, string, [number, string?]][])(
    'is asked again once an identity of the device was %s',
    async (_, call, reply) => {
      const { principalManager } = scripted([
        { call: 'GET /devices?device=d1&path=edge', reply: [200, { data: [edge] }] },
        { call, reply },
        { call: 'GET /devices?device=d1&path=edge', reply: [200, { data: [] }] },
      ]);
      await principalManager.resolve('edge');
      const change = call.startsWith('PUT')
        ? principalManager.updateIdentity('p2', '{}')
        : principalManager.deleteIdentity('p2', false);
      await change.catch(() => undefined);
      expect(await principalManager.resolve('edge')).toBe(undefined);
    },
  );

  it('gets the body of an update unchanged', async () => {
    const body = '{ "identity":"edge", "publicKey":"k" }';
    const { principalManager } = scripted([{ call: 'PUT /devices/p2', body, reply: [200] }]);
    await principalManager.updateIdentity('p2', body);
  });
});
