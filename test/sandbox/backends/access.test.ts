import { beforeAll, describe, expect, it } from 'vitest';
import { startForAll } from '../../../iot-hub-emulator/test/support/fixtures.ts';
import { createTokens } from '../../../sandbox/backends/credentials/tokens.ts';
import { fetchToken, guid, http, startTestBackends, useTestBackends } from './client.ts';

const test = useTestBackends({ keepsWorld: true });
const S1 = guid(1);
const S2 = guid(2);

/** pump-2 owns 1 (with settings and a reference to 2) and 2; everybody else wants at them. */
beforeAll(async () => {
  const { im } = test.as('pump-2');
  const of = { model: 'svc.device', type: 'pump' };
  const pump = (objectId: string, serial: string) => ({ objectId, ...of, properties: { serial } });
  await im('POST', '/object', { ...pump(S1, 'SECRET-1'), name: 'SECRET-NAME' });
  await im('POST', '/object', pump(S2, 'SECRET-2'));
  const to = { objectId: S2, model: 'svc.device' };
  await im('POST', `/objects/${S1}/models/svc.device/references/out`, [{ name: 'feeds', to, attributes: {} }]);
});

const device = `/objects/${S1}/models/svc.device`;
const settings = `/objects/${S1}/models/svc.configuration`;
const update = { type: 'pump', version: 1, properties: { serial: 'SECRET-1' } };

const another = { model: 'svc.device', type: 'pump', properties: { serial: 'X' } };
const taken = { properties: { serial: 'SECRET-1' } };
const ofGateway = { model: 'svc.configuration', type: 'gateway.settings' };
const key = { publicKey: 'x' };

/** Every way to another device's things: backend, method, path, body. */
const attempts: [string, 'im' | 'pm', string, () => string, unknown][] = [
  ['reads an object model', 'im', 'GET', () => device, undefined],
  ['reads a related model', 'im', 'GET', () => settings, undefined],
  ['reads references', 'im', 'GET', () => `${device}/references/out`, undefined],
  ['replaces an object model', 'im', 'PUT', () => device, update],
  ['replaces a related model', 'im', 'PUT', () => settings, { ...update, type: 'pump.settings' }],
  ['writes references', 'im', 'POST', () => `${device}/references/out`, []],
  ['creates over an object model', 'im', 'POST', () => '/object', { objectId: S1, ...another }],
  ['creates another model of the object', 'im', 'POST', () => `/objects/${S1}`, ofGateway],
  ['creates with unique values that are taken', 'im', 'POST', () => '/object', { ...another, ...taken }],
  ['creates for an owner', 'im', 'POST', () => `/object?owner=${test.idOf('pump-2')}`, another],
  ['updates an identity', 'pm', 'PUT', () => `/devices/${test.idOf('pump-2')}`, key],
  ['updates an identity behind a device', 'pm', 'PUT', () => `/devices/${test.idOf('gateway-1/edge')}`, key],
  ['deletes an identity', 'pm', 'DELETE', () => `/devices/${test.idOf('gateway-1/edge/sensor-1')}`, undefined],
];

const state = () => JSON.stringify([test.backends.world.objects.dump(), test.backends.world.principals.dump()]);

describe('a device without the right', () => {
  it.each(attempts)(
    'that %s of another device of its tenant gets 403 without effect or leak',
    async (_, backend, method, path, body) => {
      const before = state();
      const { status, text } = await test.as('pump-1')[backend](method, path(), body);
      expect(status).toBe(403);
      expect(text).not.toContain('SECRET');
      expect(state()).toBe(before);
    },
  );
  it.each(attempts.filter(([what]) => !what.startsWith('creates')))(
    'that %s of another tenant gets 404, as if it did not exist',
    async (_, backend, method, path, body) => {
      const before = state();
      const { status, text } = await test.as('rival-1')[backend](method, path(), body);
      expect(status).toBe(404);
      expect(text).not.toContain('SECRET');
      expect(state()).toBe(before);
    },
  );
  it('that claims an object of another device gets 409 without effect {S19.2}', async () => {
    const before = state();
    const { status, text } = await test.as('pump-1').im('PUT', `${device}/owner`, { ownerId: test.idOf('pump-1') });
    expect(status).toBe(409);
    expect(text).not.toContain('pump-2');
    expect(state()).toBe(before);
  });
  it.each([
    ['/objects/../objects/x', 404],
    [`/objects/${S1}/models/..%2f..`, 404],
    [`/objects/..%2F${S1}/models/svc.device`, 404],
    ['/objects/%00/models/svc.device', 404],
    ['/objects/__proto__/models/constructor', 404],
    ['/objects/%zz/models/m', 400],
  ])('that requests the hostile path %s gets %i', async (path, expected) => {
    const { status } = await test.as('pump-1').im('GET', path, undefined, { described: false });
    expect(status).toBe(expected);
  });
  it('of another tenant can use the same object ids separately', async () => {
    const body = { objectId: S1, model: 'svc.device', type: 'pump', properties: { serial: 'SECRET-1' } };
    expect((await test.as('rival-1').im('POST', '/object', body)).status).toBe(201);
    expect((await test.as('pump-2').im('GET', device)).json).toMatchObject({ name: 'SECRET-NAME', path: 'pump-2' });
  });
});

describe('the caller', () => {
  const raw = (headers: Record<string, string>, path = device) =>
    http(test.backends.informationModelUrl, 'GET', path, undefined, headers);
  const authorization = () => `Bearer ${test.token}`;

  it('gets 401 without a token, with an unknown one and with another scheme, before any other check', async () => {
    for (const headers of [{}, { authorization: 'Bearer x' }, { authorization: `Basic ${test.token}` }]) {
      expect((await raw(headers)).status).toBe(401);
      expect((await raw(headers, '/nowhere')).status).toBe(401);
    }
  });
  it('gets 400 without the device header, and 403 for a device without identity {S19.2}', async () => {
    expect((await raw({ authorization: authorization() })).status).toBe(400);
    expect((await raw({ authorization: authorization(), 'x-svc-device-id': 'nobody' })).status).toBe(403);
    expect((await raw({ authorization: authorization(), 'x-svc-device-id': '%zz' })).status).toBe(400);
  });
  it('is read percent-encoded', async () => {
    const deviceId = 'pümp 1%2F?&#';
    await test.admin('POST', '/devices', { deviceId });
    const { status, json } = await test.as(deviceId).pm('GET', `/devices?device=${encodeURIComponent(deviceId)}`);
    expect([status, json]).toMatchObject([200, { data: [{ identity: deviceId, path: deviceId }] }]);
  });
});

const client = { clientId: 'service', clientSecret: 'a&b:c=d' };
const grant = { grant_type: 'client_credentials' };
const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
const inForm = form({ ...grant, client_id: client.clientId, client_secret: client.clientSecret });
const inHeader = `Basic ${Buffer.from(`service:${encodeURIComponent(client.clientSecret)}`).toString('base64')}`;

const issued = (body: string | undefined): string => `Bearer ${JSON.parse(body ?? '').access_token}`;

describe('tokens', () => {
  it('are issued to the client, with credentials in the form or in the header', () => {
    const tokens = createTokens(client, 60);
    for (const answer of [tokens.issue(inForm, undefined), tokens.issue(form(grant), inHeader)]) {
      expect(answer.status).toBe(200);
      expect(JSON.parse(answer.body ?? '')).toMatchObject({ token_type: 'Bearer', expires_in: 60 });
      expect(tokens.accepts(issued(answer.body))).toBe(true);
    }
  });
  it('are issued for each of the secrets that the client has', () => {
    const tokens = createTokens(client, 60);
    const statusWith = (client_secret: string) =>
      tokens.issue(form({ ...grant, client_id: client.clientId, client_secret }), undefined).status;
    tokens.setSecrets('next', client.clientSecret);
    expect([statusWith('next'), statusWith(client.clientSecret)]).toEqual([200, 200]);
    tokens.setSecrets('next');
    expect([statusWith('next'), statusWith(client.clientSecret)]).toEqual([200, 401]);
  });
  it.each([
    ['a wrong secret', form({ ...grant, client_id: 'service', client_secret: 'x' }), 401, 'invalid_client'],
    ['no client', form(grant), 401, 'invalid_client'],
    ['another grant', inForm.replace('client_credentials', 'password'), 400, 'unsupported_grant_type'],
    ['a JSON body', JSON.stringify({ ...grant, client_id: 'service', ...client }), 401, 'invalid_client'],
  ])('are refused for %s', (_, text, status, error) => {
    const answer = createTokens(client, 60).issue(text, undefined);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body ?? '')).toMatchObject({ error });
    expect(answer.body).not.toContain('a&b');
  });
  it('are valid for exactly their lifetime', () => {
    let now = 0;
    const tokens = createTokens(client, 60, () => now);
    const token = issued(tokens.issue(inForm, undefined).body);
    now = 59_999;
    expect(tokens.accepts(token)).toBe(true);
    now = 60_000;
    expect(tokens.accepts(token)).toBe(false);
    const next = issued(tokens.issue(inForm, undefined).body);
    expect([tokens.accepts(token), tokens.accepts(next)]).toEqual([false, true]);
  });
});

describe('the token endpoint', () => {
  const test = startForAll(() => startTestBackends({ tokenLifetimeSeconds: 120 }));

  const read = (token: string) =>
    http(test.backends.principalManagerUrl, 'GET', '/devices?device=pump-1', undefined, {
      authorization: `Bearer ${token}`,
      'x-svc-device-id': 'pump-1',
    });

  it('issues tokens that all backends accept until they are revoked', async () => {
    const token = await fetchToken(test.backends);
    expect((await read(token)).status).toBe(200);
    test.backends.token.revokeAll();
    expect((await read(token)).status).toBe(401);
    expect((await read(await fetchToken(test.backends))).status).toBe(200);
  });
  it('leaves neither secret nor token in the journal', async () => {
    const token = await fetchToken(test.backends);
    await read(token);
    const journal = JSON.stringify(test.backends.journal.list());
    expect(journal).toContain('/oauth2/token');
    expect(journal).not.toContain(token);
    expect(journal).not.toContain(test.backends.token.clientSecret);
  });
});
