import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { issueCertificate } from '../src/identity/issueCertificate.ts';
import { append, eventReceiver } from './support/bare.ts';
import { connectedDevice, publishPacket } from './support/device.ts';
import { hubForAll } from './support/sharedHub.ts';

type Operation = { responses: Record<string, { $ref?: string; content?: { 'application/json': { schema: object } } }> };
interface Contract {
  paths: Record<string, Record<'get' | 'post' | 'delete', Operation>>;
  components: { schemas: Record<string, object>; responses: Record<string, object> };
}

const contract = parse(readFileSync('iot-hub-emulator/docs/admin.openapi.yaml', 'utf8')) as Contract;
const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } }).addSchema(contract, 'contract');

const hub = hubForAll({ devices: [{ deviceId: 'pump-1' }], partitions: 1 });

const pointer = (...names: string[]) =>
  `contract#/${names.map((name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;

/** Ask, and hold the answer against the contract of that path, method and status. */
const ask = async (method: 'get' | 'post' | 'delete', path: string, at: string, body?: unknown): Promise<number> => {
  const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
  const response = await fetch(hub.adminUrl + at, { ...init, method: method.toUpperCase() });
  const text = await response.text();
  const { status } = response;
  const documented = contract.paths[path]?.[method].responses[status];
  expect(documented, `${method} ${path} answers ${status}`).toBeDefined();
  const schema = documented?.$ref
    ? pointer('components', 'responses', 'refused', 'content', 'application/json', 'schema')
    : pointer('paths', path, method, 'responses', String(status), 'content', 'application/json', 'schema');
  if (text === '') expect(documented?.content).toBeUndefined();
  else expect(ajv.validate({ $ref: schema }, JSON.parse(text)), ajv.errorsText()).toBe(true);
  return status;
};

test('every answer complies with the contract', async () => {
  const device = await connectedDevice(hub, 'pump-1');
  device.send(publishPacket('devices/pump-1/messages/events/', Buffer.from([0xff])));
  await device.next('puback');
  append(hub, ['x']);
  const { bodies } = await eventReceiver(hub);
  await expect.poll(() => bodies.length).toBe(2);

  const read = ['/', '/devices', '/connections', '/partitions', '/counters', '/journal', '/faults/kinds'];
  for (const path of read) expect(await ask('get', path, path), path).toBe(200);
  expect(await ask('post', '/devices', '/devices', { deviceId: 'd' })).toBe(201);
  expect(await ask('post', '/devices', '/devices', { deviceId: 'd' })).toBe(409);
  expect(await ask('post', '/devices', '/devices', {})).toBe(400);
  const message = { system: { messageId: 'm' }, properties: { a: 'b' }, body: Buffer.from('x') };
  hub.devicebound.enqueue('pump-1', message, 'service');
  expect(await ask('get', '/devices/{id}/twin', '/devices/pump-1/twin')).toBe(200);
  expect(await ask('get', '/devices/{id}/twin', '/devices/none/twin')).toBe(404);
  expect(await ask('get', '/devices/{id}/messages', '/devices/pump-1/messages')).toBe(200);
  expect(await ask('get', '/devices/{id}/messages', '/devices/none/messages')).toBe(404);
  expect(await ask('delete', '/devices/{id}', '/devices/d')).toBe(204);
  expect(await ask('delete', '/devices/{id}', '/devices/d')).toBe(404);
  expect(await ask('post', '/devices/{id}/messages', '/devices/pump-1/messages', { body: 'x' })).toBe(201);
  expect(await ask('post', '/devices/{id}/messages', '/devices/pump-1/messages', { body: 1 })).toBe(400);
  expect(await ask('post', '/devices/{id}/messages', '/devices/nobody/messages', {})).toBe(404);
  const authority = await issueCertificate({ name: 'Factory', role: 'authority' });
  const registered = { name: 'factory', certificate: authority.cert };
  expect(await ask('post', '/certificates', '/certificates', registered)).toBe(201);
  expect(await ask('post', '/certificates', '/certificates', { ...registered, name: '' })).toBe(400);
  expect(await ask('post', '/certificates', '/certificates', {})).toBe(400);
  expect(await ask('get', '/certificates', '/certificates')).toBe(200);
  const [code, verify] = ['/certificates/{id}/generateVerificationCode', '/certificates/{id}/verify'];
  expect(await ask('post', code, '/certificates/factory/generateVerificationCode')).toBe(200);
  expect(await ask('post', code, '/certificates/none/generateVerificationCode')).toBe(404);
  const answer = await fetch(`${hub.adminUrl}/certificates/factory/generateVerificationCode`, { method: 'POST' });
  const { verificationCode } = (await answer.json()) as { verificationCode: string };
  const { cert: certificate } = await issueCertificate({ name: verificationCode, role: 'client', issuer: authority });
  expect(await ask('post', verify, '/certificates/factory/verify', registered)).toBe(400);
  expect(await ask('post', verify, '/certificates/factory/verify', {})).toBe(400);
  expect(await ask('post', verify, '/certificates/none/verify', { certificate })).toBe(404);
  expect(await ask('post', verify, '/certificates/factory/verify', { certificate })).toBe(200);
  expect(hub.certificates.verified()).toHaveLength(1);
  expect(await ask('delete', '/certificates/{id}', '/certificates/factory')).toBe(204);
  expect(await ask('delete', '/certificates/{id}', '/certificates/factory')).toBe(404);
  const signed = { deviceId: 'signed', authentication: { type: 'certificateAuthority' } };
  expect(await ask('post', '/devices', '/devices', signed)).toBe(201);
  expect(await ask('get', '/journal', '/journal?since=x')).toBe(400);
  expect(await ask('get', '/journal/stream', '/journal/stream?since=x')).toBe(400);
  expect(await ask('post', '/faults', '/faults', { kind: 'settle', answer: 'hold' })).toBe(201);
  expect(await ask('post', '/faults', '/faults?seconds=3600', { kind: 'no-events', partition: '9' })).toBe(201);
  expect(await ask('post', '/faults', '/faults?seconds=0', { kind: 'no-events' })).toBe(400);
  expect(await ask('get', '/faults', '/faults')).toBe(200);
  expect(await ask('post', '/faults', '/faults', { kind: 'drop' })).toBe(200);
  expect(await ask('post', '/faults', '/faults', { kind: 'fall' })).toBe(400);
  expect(await ask('post', '/faults', '/faults', { kind: 'burst', events: 1, deviceId: 'nobody' })).toBe(404);
  expect(await ask('delete', '/faults/{id}', '/faults/99')).toBe(404);
  expect(await ask('delete', '/faults/{id}', '/faults/1')).toBe(204);
  expect(await ask('delete', '/faults', '/faults')).toBe(200);
});
