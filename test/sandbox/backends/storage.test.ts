import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { folderForEach } from '../../../iot-hub-emulator/test/support/fixtures.ts';
import type { Change } from '../../../sandbox/backends/world/storage.ts';
import { guid, startTestBackends, type TestBackends } from './client.ts';

const directory = folderForEach('backends');
let test: TestBackends;

beforeEach(async () => (test = await startTestBackends({ directory })));
afterEach(() => test.close());

const file = () => join(directory, 'world.jsonl');
const everything = () => {
  const { types, principals, objects, idempotency } = test.backends.world;
  return [types, principals, objects, idempotency].flatMap((part): readonly Change[] => part.dump());
};

async function restart(): Promise<void> {
  await test.close();
  test = await startTestBackends({ directory });
}

/** A bit of everything: objects, related models, references, attributes, a deletion, a type, an answer to repeat. */
async function live(): Promise<void> {
  const { im, pm, tr } = test.as('gateway-1');
  const fan = { typeId: 'fan', version: '1.0.0', baseTypes: ['sensor@1.0.0'] };
  await tr('POST', '/modelDefinitions/svc.device/types', fan);
  const pump = '{"model":"svc.device","type":"pump","properties":{ "serial":"A1","runningHours":12345678901234567890}}';
  await im('POST', `/objects/${guid(1)}`, pump, { headers: { 'idempotency-key': 'k' } });
  await im('POST', `/objects/${guid(2)}`, { type: 'fan', properties: { quantity: 'x' }, name: 'F' });
  const feeds = { name: 'feeds', to: { objectId: guid(2), model: 'svc.device' }, attributes: { a: 1 } };
  await im('POST', `/objects/${guid(1)}/models/svc.device/references/out`, [feeds]);
  await im('PUT', `/objects/${guid(2)}/models/svc.device`, { type: 'fan', version: 1, properties: { quantity: 'y' } });
  await pm('PUT', `/devices/${test.idOf('gateway-1/edge')}`, { publicKey: 'k' });
  await pm('DELETE', `/devices/${test.idOf('gateway-1/edge/sensor-1')}`);
}

it('the whole world survives a restart', async () => {
  await live();
  const before = everything();
  await restart();
  expect(everything()).toEqual(before);
  const { im } = test.as('gateway-1');
  expect((await im('GET', `/objects/${guid(1)}/models/svc.device`)).text).toContain(
    '"properties":{ "serial":"A1","runningHours":12345678901234567890}',
  );
  const query = { model: 'svc.device', type: 'pump', properties: { serial: 'A1' } };
  expect((await im('POST', '/query', query)).json).toMatchObject({ data: [{ objectId: guid(1) }] });
});

it('an answer is repeated across a restart', async () => {
  await live();
  await restart();
  const pump = '{"model":"svc.device","type":"pump","properties":{ "serial":"A1","runningHours":12345678901234567890}}';
  const headers = { 'idempotency-key': 'k' };
  expect((await test.as('gateway-1').im('POST', `/objects/${guid(1)}`, pump, { headers })).status).toBe(201);
});

it('a crash during a write leaves all changes of a call or none', async () => {
  const before = everything();
  await live();
  await test.close();
  const lines = readFileSync(file(), 'utf8').split('\n');
  const created = lines.findIndex((line) => line.includes(guid(1)));
  expect(lines[created]).toContain('svc.configuration');
  writeFileSync(file(), `${lines.slice(0, created).join('\n')}\n${lines[created]?.slice(0, -9)}`);
  test = await startTestBackends({ directory });
  expect(everything().filter(({ kind }) => kind === 'object')).toEqual(before.filter(({ kind }) => kind === 'object'));
});

it('a file that is damaged before its end is reported', async () => {
  await test.close();
  appendFileSync(file(), 'x\n[]\n');
  await expect(startTestBackends({ directory })).rejects.toThrow();
  writeFileSync(file(), '');
  test = await startTestBackends({ directory });
});

it('the client survives a restart, readable by its owner only', async () => {
  const { clientSecret } = test.backends.token;
  await restart();
  expect(test.backends.token.clientSecret).toBe(clientSecret);
  expect(statSync(join(directory, 'client.json')).mode & 0o077).toBe(0);
  expect(statSync(file()).mode & 0o077).toBe(0);
});

it('a reset removes everything, on disk, too', async () => {
  const before = everything();
  await live();
  await test.admin('POST', '/reset');
  await restart();
  expect(everything()).toEqual(before);
});

it('the world is empty at first unless the example world is requested', async () => {
  const other = await startTestBackends({ directory: join(directory, 'empty'), seed: false });
  expect(other.backends.world.types.list()).toEqual([]);
  expect(other.backends.world.tenants.size).toBe(0);
  await other.close();
});
