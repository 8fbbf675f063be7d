import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runKit } from '../../backend-kit/run.ts';
import { startAdapter } from '../../sandbox/adapter/adapter.ts';
import { type Database, openDatabase, type Sql } from '../../sandbox/adapter/database.ts';
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

describe('An adapter refuses', () => {
  const type = 'thing';
  const lookUp = /from objects where tenant = \$1 and object_id = \$2$/;
  /** Another create of the object commits behind the look-up of the next one. */
  let isLate = false;
  const see = (sql: Sql): Sql => ({
    async query(text, values) {
      const seen = await sql.query(text, values);
      if (!isLate || !lookUp.test(text)) return seen;
      isLate = false;
      return { ...seen, rows: [] };
    },
  });
  let adapter: Awaited<ReturnType<typeof startAdapter>>;
  beforeAll(async () => {
    const database = await openDatabase();
    await provision(database);
    adapter = await startAdapter({
      database: { ...database, transaction: (run) => database.transaction((sql) => run(see(sql))) },
      read: (token) => (token === tokens.service ? 'service' : undefined),
    });
    const properties = { serial: { dataType: 'string' }, label: { dataType: 'string' } };
    const thing = { typeId: type, version: '1.0.0', unique: ['serial'], properties, references: { feeds: {} } };
    const created = await call('type-registry', 'POST', '/modelDefinitions/svc.device/types', thing);
    expect(created.status).toBe(201);
  }, 60_000);
  afterAll(() => adapter?.close());

  async function call(backend: keyof typeof adapter.urls, method: string, path: string, body?: object) {
    const headers = { authorization: `Bearer ${tokens.service}`, 'x-svc-device-id': 'gateway-1' };
    const init = { method, headers: { ...headers, 'idempotency-key': randomUUID() } };
    const response = await fetch(adapter.urls[backend] + path, body ? { ...init, body: JSON.stringify(body) } : init);
    return { status: response.status, text: await response.text() };
  }
  const create = (properties: object, more: object = {}) =>
    call('information-model', 'POST', '/object', {
      ...{ objectId: randomUUID(), model: 'svc.device', type, properties },
      ...more,
    });

  it('what a text column cannot hold, instead of taking it for an outage', async () => {
    const id = randomUUID();
    const references = `/objects/${id}/models/svc.device/references/out`;
    const answers = [
      await call('principal-manager', 'GET', '/devices?device=gateway-1&identity=a%00'),
      await create({ serial: 'a' }, { name: 'a\u0000' }),
      await create({ serial: 'b' }, { objectId: id }),
      await call('information-model', 'POST', references, [{ name: 'feeds', to: { objectId: id, model: 'a\u0000' } }]),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 201, 400]);
    expect(answers[1]?.text).toContain('a value cannot be stored or looked up');
  });

  it('a second object with the same unique value, however long it is', async () => {
    const serial = randomBytes(8000).toString('base64');
    expect([(await create({ serial })).status, (await create({ serial })).status]).toEqual([201, 409]);
  });

  it('the later one of two creates of an object id at once', async () => {
    const id = randomUUID();
    const first = await create({ label: 'first' }, { objectId: id });
    isLate = true;
    const second = await create({ label: 'second' }, { objectId: id });
    expect([first.status, second.status, isLate]).toEqual([201, 409, false]);
    const { text } = await call('information-model', 'GET', `/objects/${id}/models/svc.device`);
    expect(JSON.parse(text).properties).toEqual({ label: 'first' });
  });
});

it('The folder of a database need not exist, nor the one above it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'adapter-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  await (await openDatabase(join(folder, 'sandbox', 'postgres'))).close();
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
