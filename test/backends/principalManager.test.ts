import { describe, expect, it } from 'vitest';
import { withFakeTimers } from '../support/waiting.ts';
import { callOf, rejection, scripted } from './harness.ts';

withFakeTimers();

const device = { id: 'p1', identity: 'd1', path: 'd1', parentId: null };
const edge = { id: 'p2', identity: 'edge', path: 'd1/edge', parentId: 'p1' };

describe('the principal manager', () => {
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

  it.each([
    ['two identities', { data: [device, edge] }],
    ['no list', {}],
  ])('fails as a backend when it answers with %s', async (_, body) => {
    const { principalManager } = scripted([{ call: 'GET /devices?device=d1', reply: [200, body] }]);
    expect((await rejection(principalManager.resolve(''))).code).toBe('internal_platform_error');
  });

  it('is asked with URLs of 8,192 bytes at most, in which slashes at the end of its own do not count', async () => {
    const path = 'a'.repeat(8_192 - 'http://pm.invalid/devices?device=d1&path='.length);
    const script = [{ call: `GET /devices?device=d1&path=${path}`, reply: [200, { data: [edge] }] }] as const;
    const { principalManager } = scripted(script, { principalManagerUrl: 'http://pm.invalid///' });
    expect(await principalManager.resolve(path)).toEqual(edge);
    expect((await rejection(principalManager.resolve(`${path}a`))).code).toBe('validation_error');
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
});
