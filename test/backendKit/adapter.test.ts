import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { runKit } from '../../backend-kit/run.ts';
import { startAdapter } from '../../sandbox/adapter/adapter.ts';
import { type Database, openDatabase } from '../../sandbox/adapter/database.ts';
import { connect } from '../../sandbox/adapter/sqlIdentities.ts';
import { spawn } from '../../sandbox/service/endWithUs.ts';
import { notHolding } from './faulty.ts';

const unclaimed = '3f0c2f3c-0000-4000-8000-000000000001';
const tokens = { service: 's.1', caller: 'c.1', reader: 'r.1' };
const readers = new Map([
  [tokens.caller, { name: 'caller', tenant: 'acme', mayInvoke: true }],
  [tokens.reader, { name: 'reader', tenant: 'acme', mayInvoke: false }],
]);

/** What an administrator creates. */
async function provision({ transaction }: Database): Promise<void> {
  await transaction(async (sql) => {
    for (const path of ['gateway-1/edge/sensor-1', 'pump-2']) await connect(sql, 'acme', path);
    await connect(sql, 'globex', 'rival-1');
    const type = { typeId: 'spare', version: '1.0.0', properties: {} };
    await sql.query('insert into types values ($1, $2, $3, $4, $5)', [
      'acme',
      'svc.device',
      'spare',
      [1, 0, 0],
      JSON.stringify(type),
    ]);
    const values = ['acme', unclaimed, 'svc.device', 'spare', 'spare@1.0.0'];
    const columns = 'tenant, object_id, model, type_id, type, properties, variables, scalars, version';
    await sql.query(`insert into objects (${columns}) values ($1, $2, $3, $4, $5, '{}', '{}', '{}', 1)`, values);
  });
}

it('The adapter over PostgreSQL holds each rule of the kit', async () => {
  const database = await openDatabase();
  await provision(database);
  const adapter = await startAdapter({
    database,
    read: (token) => (token === tokens.service ? 'service' : readers.get(token)),
  });
  const outcome = await runKit({
    token: tokens.service,
    given: {
      ...adapter.urls,
      ...{ device: 'gateway-1', 'other-device': 'pump-2', 'other-tenant-device': 'rival-1' },
      ...{ 'expendable-identity': 'edge/sensor-1', 'unclaimed-object': unclaimed },
      ...{ 'caller-token': tokens.caller, 'reader-token': tokens.reader },
    },
  });
  await adapter.close();
  expect(notHolding(outcome)).toEqual([]);
});

/** Starts the program; resolves when it serves. */
async function start(directory: string) {
  const identities = ['acme=gateway-1/edge/sensor-1', 'acme=pump-2'].flatMap((pair) => ['--identity', pair]);
  const args = [
    'scripts/run.js',
    'sandbox/adapter/main.ts',
    '--directory',
    directory,
    '--token',
    tokens.service,
    ...identities,
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface(child.stdout), 'line');
  const urls: Readonly<Record<'information-model' | 'type-registry' | 'principal-manager', string>> = JSON.parse(line);
  const kill = async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { urls, kill };
}

it('Killed and started again, the adapter has its objects, and what it answered to keys', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'adapter-'));
  const headers = { authorization: `Bearer ${tokens.service}`, 'x-svc-device-id': 'gateway-1' };
  const options = { token: tokens.service, only: ['im.create', 'im.bytes', 'im.references', 'im.repeat', 'tr.'] };
  try {
    const before = await start(directory);
    const outcome = await runKit({
      ...options,
      given: { ...before.urls, device: 'gateway-1', 'other-device': 'pump-2' },
    });
    const [objectId] = outcome.left.objects;
    const read = async (url: string) =>
      (await fetch(`${url}/objects/${objectId}/models/svc.device`, { headers })).text();
    const type = {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': 'one' },
      body: '{"typeId":"kept","version":"1.0.0"}',
    };
    const create = async (url: string) => (await fetch(`${url}/modelDefinitions/svc.device/types`, type)).status;
    const object = await read(before.urls['information-model']);
    expect([JSON.parse(object).objectId, await create(before.urls['type-registry'])]).toEqual([objectId, 201]);
    await before.kill();

    const after = await start(directory);
    expect(await read(after.urls['information-model'])).toBe(object);
    expect(await create(after.urls['type-registry'])).toBe(201);
    const again = await runKit({ ...options, given: { ...after.urls, device: 'gateway-1', 'other-device': 'pump-2' } });
    await after.kill();
    for (const { results } of [outcome, again])
      expect(results.filter((result) => result.outcome === 'broken').map(({ why }) => why)).toEqual([]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
