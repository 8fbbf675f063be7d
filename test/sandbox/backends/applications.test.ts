import { describe, expect, it } from 'vitest';
import { createApplications } from '../../../sandbox/backends/credentials/applications.ts';
import { validateExchange } from '../../support/contracts.ts';
import { guid, http, useTestBackends } from './client.ts';

// PROTOCOL M2: the information model tells invokers from readers by the caller's own token and `x-svc-operation`.

const test = useTestBackends({ keepsWorld: true });

const reader = { name: 'dashboard', tenant: 'acme', mayInvoke: false };
const invoker = { name: 'control-room', tenant: 'acme', mayInvoke: true };
const stranger = { name: 'competitor', tenant: 'globex', mayInvoke: true };

const objectOf = (path: string | undefined) => {
  const found = test.backends.world.objects
    .list()
    .find(({ owner, type }) => owner?.path === path && type.typeId.includes('motor'));
  return `/objects/${found?.objectId}/models/svc.device`;
};

const tokenOf = (application: typeof reader, seconds = 60) => test.backends.applications.issue(application, seconds);

async function read(token: string | undefined, path: string, headers: Record<string, string> = {}) {
  const requestHeaders = { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers };
  const reply = await http(test.backends.informationModelUrl, 'GET', path, undefined, requestHeaders);
  const { status, text: responseBody } = reply;
  const exchange = { backend: 'informationModel', method: 'GET', path, requestHeaders, status, responseBody } as const;
  expect(validateExchange(exchange)).toEqual([]);
  return reply;
}

const toInvoke = { 'x-svc-operation': 'invoke' };

describe('an application', () => {
  it.each([{}, toInvoke])(
    'of another tenant finds nothing, and gets the same answer for what does not exist: %j',
    async (headers) => {
      const token = tokenOf(stranger);
      const foreign = await read(token, objectOf('motor-1'), headers);
      const nowhere = await read(token, `/objects/${guid(9)}/models/svc.device`, headers);
      expect([foreign.status, nowhere.status]).toEqual([404, 404]);
      expect({ ...foreign.error, id: '' }).toEqual({ ...nowhere.error, id: '' });
    },
  );
  it('reads for the known purposes only', async () =>
    expect((await read(tokenOf(invoker), objectOf('motor-1'), { 'x-svc-operation': 'delete' })).status).toBe(400));
  it.each([
    ['informationModel', 'PUT', '/objects/x/models/svc.device'],
    ['informationModel', 'POST', '/query'],
    ['informationModel', 'GET', '/objects/x/models/svc.device/references/out'],
    ['typeRegistry', 'GET', '/modelDefinitions/svc.device/types/motor'],
    ['principalManager', 'GET', '/devices?device=motor-1'],
  ] as const)('is refused everything else: %s %s %s', async (backend, method, path) => {
    const headers = { authorization: `Bearer ${tokenOf(invoker)}` };
    expect((await http(test.backends[`${backend}Url`], method, path, undefined, headers)).status).toBe(403);
  });
  it('is in the journal with its request, without its token', async () => {
    const token = tokenOf(invoker);
    const { last } = test.backends.journal;
    await read(token, objectOf('motor-1'), { ...toInvoke, 'x-correlation-id': 'c-1' });
    const [entry] = test.backends.calls({ since: last });
    expect(entry?.headers).toEqual({ ...toInvoke, 'x-correlation-id': 'c-1' });
    expect(JSON.stringify(entry)).not.toContain(token);
  });
  it('gets its token from the administrator', async () => {
    const { json } = await test.admin('POST', '/applications', { name: 'shift-book', mayInvoke: true });
    expect((await read((json as { token: string }).token, objectOf('motor-1'), toInvoke)).status).toBe(200);
    expect((await test.admin('POST', '/applications', { mayInvoke: true })).status).toBe(400);
  });
});

describe('a token', () => {
  const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  const withClaims = (token: string, change: object) => {
    const [header, , signature] = token.split('.');
    const claims = Buffer.from(JSON.stringify({ ...claimsOf(token), ...change })).toString('base64url');
    return [header, claims, signature].join('.');
  };

  it('names the application', () =>
    expect(claimsOf(tokenOf(reader))).toMatchObject({ sub: 'dashboard', azp: 'dashboard', tenant: 'acme' }));

  const unsigned = Buffer.from('{"alg":"none"}').toString('base64url');
  it.each<[string, () => string]>([
    ['that is missing', () => ''],
    ['that has expired', () => tokenOf(invoker, 0)],
    ['that is no token', () => 'x'],
    ['of two parts', () => tokenOf(invoker).replace(/\.[^.]*$/, '')],
    ['of four parts', () => `${tokenOf(invoker)}.x`],
    ['without signature', () => tokenOf(invoker).replace(/[^.]*$/, '')],
    ['that gave itself a right', () => withClaims(tokenOf(reader), { roles: ['methods.invoke'] })],
    ['that gave itself a tenant', () => withClaims(tokenOf(stranger), { tenant: 'acme' })],
    ['of another issuer', () => createApplications().issue(invoker, 60)],
    ['that says it needs none', () => tokenOf(invoker).replace(/^[^.]+/, unsigned)],
  ])('%s gets 401 with a challenge', async (_, tokenOfIt) => {
    const token = tokenOfIt();
    const { status, headers } = await read(token || undefined, objectOf('motor-1'), toInvoke);
    expect(status).toBe(401);
    expect(headers['www-authenticate']).toBe(token === '' ? 'Bearer' : 'Bearer error="invalid_token"');
  });
  it('is valid for exactly its lifetime', () => {
    let now = 0;
    const applications = createApplications(() => now);
    const authorization = `Bearer ${applications.issue(invoker, 60)}`;
    now = 59_999;
    expect(applications.read(authorization)).toEqual(invoker);
    now = 60_000;
    expect(applications.read(authorization)).toBeUndefined();
  });
});

describe('the example world', () => {
  it('takes inputs of unknown data types', async () => {
    const fan = { typeId: 'fan', version: '1.0.0', methods: { turn: { input: { at: { dataType: 'timestamp' } } } } };
    expect((await test.as('pump-1').tr('POST', '/modelDefinitions/svc.device/types', fan)).status).toBe(201);
  });
  it('can get an object model with an owner from the administrator', async () => {
    const motor = (n: number) => ({ model: 'svc.device', type: 'motor', properties: { serial: `X-${n}` } });
    const { json } = await test.admin('POST', '/objects?owner=gateway-1/edge', motor(1));
    expect(json).toMatchObject({ path: 'gateway-1/edge' });
    for (const owner of ['nobody', 'gateway-1/nobody', 'rival-1', ''])
      expect((await test.admin('POST', `/objects?owner=${owner}`, motor(2))).status).toBe(400);
  });
});
