import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRouter, splitUrl } from 'iot-hub-emulator/http';
import { beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createClient } from '../../backend-kit/client.ts';
import { jsonReport, junitReport, resultText, summaryText } from '../../backend-kit/report.ts';
import { rules } from '../../backend-kit/rules/index.ts';
import { isFailure, type Outcome, runKit } from '../../backend-kit/run.ts';
import { portForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { type Backends, startBackends } from '../../sandbox/backends/backends.ts';
import { execFile } from '../../sandbox/service/endWithUs.ts';
import { givenBy, notHolding, runWith } from './faulty.ts';

type Given = Awaited<ReturnType<typeof givenBy>>;
async function withReference<T>(run: (given: Given, backends: Backends) => Promise<T>): Promise<T> {
  const backends = await startBackends({ seed: true });
  try {
    return await run(await givenBy(backends), backends);
  } finally {
    await backends.close();
  }
}

let reference: Outcome;
/** The names of what stays of it. */
let left: readonly string[];
beforeAll(async () => {
  await withReference(async ({ given, token }, { world }) => {
    const before = new Set(world.objects.list().map(({ objectId }) => objectId));
    reference = await runKit({ given, token });
    left = world.objects.list().flatMap(({ objectId, name }) => (before.has(objectId) ? [] : [name ?? 'kit-']));
  });
});

it('A second run says which of what it was given the first one has used up', () =>
  withReference(async ({ given, token }) => {
    const options = { given, token, only: ['im.claim', 'pm.delete'] };
    const spent = [`--expendable-identity edge/sensor-1`, `--unclaimed-object ${given['unclaimed-object']}`];
    const first = await runKit(options);
    expect([first.spent.toSorted(), notHolding(first)]).toEqual([spent, []]);
    expect(summaryText(first)).toContain('Used up, so that the next run needs others: --unclaimed-object ');
    expect(notHolding(await runKit(options))).toEqual([
      'im.claim not tried: the device owns the object model of --unclaimed-object already: name another one',
      'pm.delete not tried: pm.resolve.child does not hold',
    ]);
  }));

it('Whether a device resolves another one is not tried without another one', async () => {
  const { results } = await withReference(({ given: { 'other-device': _, ...given }, token }) =>
    runKit({ given, token, only: ['pm.resolve.other'] }),
  );
  expect(results.map(({ why }) => why)).toEqual(['it needs --other-device']);
});

it('A registry that refuses a right type fails the run, which says which one', async () => {
  const outcome = await runWith({
    request: ({ body }) =>
      body.includes('-missing@1') ? { status: 400, body: '{"errors":["no such type"]}' } : undefined,
  });
  const type = `${outcome.run}-odd: {"errors":["no such type"]}`;
  expect(summaryText(outcome)).toMatch(
    new RegExp(`\n  \\d+ not tried: ${`the registry answers 400 to the type ${type}`.replace(/[[{]/g, '\\$&')}\n`),
  );
  expect(outcome.results.filter(({ outcome: what }) => what === 'broken')).toEqual([]);
  expect(outcome.results.filter(isFailure).length).toBeGreaterThan(60);
  expect(junitReport(outcome)).toContain('<failure message="the registry answers 400 to the type ');
});

it.each([
  ['/a b', {}],
  ['/', { authorization: 'Bearer a\nb' }],
])('A request that nobody can send is an answer with words: %j, %j', async (path, headers) => {
  const client = createClient('http://127.0.0.1:1', 1000);
  const { status, failure } = await client.send({ method: 'GET', path, headers });
  expect([status, failure]).toEqual([0, expect.stringMatching(/unescaped|Invalid character/)]);
});

it('Ids are encoded in paths', async () => {
  const asked: string[] = [];
  const outcome = await runWith({
    request({ path }) {
      asked.push(path);
      return path.startsWith('/devices') ? { body: '{"data":[{"id":"an id"}]}' } : { status: 201 };
    },
  });
  expect(asked).toContain('/object?owner=an%20id');
  expect(notHolding(outcome).filter((line) => /^im.*unescaped/.test(line))).toEqual([]);
});

it('The reference backends hold each rule, and what stays has names of the run', () => {
  expect([reference.results.length, notHolding(reference)]).toEqual([rules.length, []]);
  expect(left.filter((name) => !name.startsWith('kit-'))).toEqual([]);
});

it.each([
  'im.create.answer {S4.6 S9.8 S22.2}',
  'im.create.mandatory {S5.4}',
  'im.create.owner-child {S4.7}',
  'im.create.type-latest {S4.4 S9.12}',
  'im.create.type-major {S4.4 S9.12}',
  'im.create.type-unknown {S9.4}',
  'im.create.undeclared {S4.8}',
  'im.create.unique-derived {S5.7}',
  'im.related.there {S4.2 S5.6 S9.8}',
  'im.bytes.variables {S4.5}',
  'im.update {S9.9 S22.2}',
  'im.update.name {S4.1}',
  'im.update.owner {S4.6}',
  'im.update.replaces {S10.5}',
  'im.update.type {S10.9 S22.4}',
  'im.update.unknown {S10.4}',
  'im.claim {S4.7 S15.10}',
  'im.query.versions {S9.7}',
  'im.references.order {S6.1}',
  'im.references.identity {S12.3}',
  'tr.create.again {S11.3 S22.3}',
  'pm.delete {S14.5}',
])('The reference backends hold %s', (marked) =>
  expect(reference.results.find(({ rule }) => marked.startsWith(`${rule.id} `))?.outcome).toBe('holds'),
);

it('Rules have ids of their own, and end their sentences', () => {
  expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
  expect(rules.filter(({ says, otherwise }) => !/[.]$/.test(says) || !/[.]$/.test(otherwise))).toEqual([]);
});

it('Rules that need what is not given are not tried, and say which option that is', async () => {
  const outcome = await withReference(({ given: all, token }) =>
    runKit({ token, given: { device: all.device, 'type-registry': all['type-registry'] } }),
  );
  const reasons = new Set(outcome.results.flatMap(({ outcome: what, why }) => (what === 'not tried' ? [why] : [])));
  const options = ['other-device', 'other-tenant-device', 'expendable-identity', 'unclaimed-object', 'caller-token'];
  const absent = [...options, 'reader-token', 'information-model', 'principal-manager'];
  expect([...reasons].sort()).toEqual(absent.map((name) => `it needs --${name}`).sort());
});

it('What is printed and reported covers tokens, and a rule that is a must is a failure of JUnit', async () => {
  const outcome = await runWith({
    answer(reply, { headers }) {
      reply.status = 500;
      reply.body = JSON.stringify({ seen: headers['authorization'] });
    },
  });
  const texts = [...outcome.results.map(resultText), junitReport(outcome), JSON.stringify(jsonReport(outcome))].join(
    '\n',
  );
  expect(texts).toContain('authorization: Bearer …');
  expect(texts.match(/Bearer [\w.-]{20,}/)).toBeNull();
  expect(texts).toMatch(/<failure message="GET [^"]*500/);
});

it('A call that is not answered in time breaks its rule, and says so', async () => {
  const url = `http://127.0.0.1:${await portForTest(createServer(() => undefined))}`;
  const given = { 'type-registry': url, device: 'd1' };
  const outcome = await runKit({ given, token: 't', timeoutMs: 20, only: ['tr.read.latest', 'tr.keep-alive'] });
  const said = (call: string) => `broken: ${call} was not answered: there was no answer in 20 ms`;
  expect(notHolding(outcome)).toEqual([
    `tr.keep-alive ${said('GET /modelDefinitions/svc.device/types/kit-none')}`,
    `tr.read.latest ${said('POST /modelDefinitions/svc.device/types')}`,
  ]);
});

/** The exit code of the program, and what it prints. */
function program(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const command = ['scripts/run.js', 'backend-kit/main.ts', ...args];
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) =>
    execFile(process.execPath, command, { env: { ...env } }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    ),
  );
}

it('The program ends with 0 if all musts hold, with 1 if one does not, and with 2 if nothing could be tried', () =>
  withReference(async ({ given, token }) => {
    const args = Object.entries({ ...given, token }).flatMap(([name, value]) => [`--${name}`, value ?? '']);
    const held = await program([...args, '--only', 'pm', '--json']);
    expect(JSON.parse(held.stdout).rules.map(({ outcome }: { outcome: string }) => outcome)).not.toContain('broken');
    const refused = await program([...args, '--token', 'wrong', '--only', 'pm.resolve.device']);
    expect(refused.stdout).toContain('must: GET /devices was answered with 401, not 200');
    const [silent, nowhere] = await Promise.all([
      program(['--device', 'd1', '--token', 't', '--type-registry', 'http://127.0.0.1:1']),
      program(['--device', 'd1', '--token', 't']),
    ]);
    expect(silent.stderr).toMatch(/^the backend of --type-registry cannot be reached: .*\n$/);
    expect(nowhere.stderr).toMatch(/^give at least one backend: .*\n$/);
    expect([held.code, refused.code, silent.code, nowhere.code]).toEqual([0, 1, 2, 2]);
  }));

it('The program ends with 1 if what it needs is refused, without a rule that is broken', () =>
  withReference(async ({ given, token }) => {
    const { 'type-registry': _, ...urls } = given;
    const registry = createServer((request, response) => {
      response.writeHead(request.url?.startsWith('/devices') ? 404 : 403).end();
    });
    const refusing = `http://127.0.0.1:${await portForTest(registry)}`;
    const args = Object.entries({ ...urls, token, 'type-registry': refusing, only: 'im.create,im.token' });
    const { code, stdout } = await program([...args.flatMap(([name, value]) => [`--${name}`, value ?? '']), '--json']);
    const outcomes = JSON.parse(stdout).rules.map(({ outcome }: { outcome: string }) => outcome);
    expect([code, new Set(outcomes)]).toEqual([1, new Set(['holds', 'not tried'])]);
  }));

it('The program gets its token as the service does: a secret from its file, and with the scope', () =>
  withReference(async ({ given, token }) => {
    const forms: string[] = [];
    const endpoint = createServer((request, response) => {
      request.on('data', (piece) => forms.push(String(piece)));
      request.on('end', () => response.end(JSON.stringify({ access_token: token })));
    });
    const folder = mkdtempSync(join(tmpdir(), 'secrets-'));
    const fileOf = (name: string, secret: string) => {
      writeFileSync(join(folder, name), `${secret}\n`);
      return join(folder, name);
    };
    const args = ['--device', 'gateway-1', '--principal-manager', given['principal-manager'] ?? ''];
    const tried = (env: Readonly<Record<string, string>>) => program([...args, '--only', 'pm.resolve.device'], env);
    const fetched = await tried({
      ...{
        BACKENDS_TOKEN_URL: `http://127.0.0.1:${await portForTest(endpoint)}`,
        BACKENDS_TOKEN_SCOPE: 'api/.default',
      },
      ...{ BACKENDS_CLIENT_ID: 'me', BACKENDS_CLIENT_SECRET_FILE: fileOf('secret', 'a secret') },
    });
    const fixed = await tried({ BACKENDS_TOKEN_FILE: fileOf('token', token) });
    rmSync(folder, { recursive: true });
    expect([fetched.stderr, fetched.code, fixed.stderr, fixed.code]).toEqual(['', 0, '', 0]);
    const form = { client_id: 'me', client_secret: 'a secret', scope: 'api/.default' };
    expect(Object.fromEntries(new URLSearchParams(forms.join('')))).toMatchObject(form);
  }));

/** A value that fits a schema of the contracts. */
function sample(schema: Schema, all: Schema): unknown {
  const {
    $ref,
    allOf,
    oneOf,
    anyOf,
    const: constant,
    enum: values,
    type,
    items,
    properties = {},
    required = [],
  } = schema;
  if ($ref)
    return sample(
      $ref
        .split('/')
        .slice(1)
        .reduce((found: Schema, name: string) => found[name], all),
      all,
    );
  if (allOf) return Object.assign({}, ...allOf.map((one: Schema) => sample(one, all)));
  if (oneOf ?? anyOf) return sample((oneOf ?? anyOf)[0], all);
  if (constant !== undefined || values) return constant ?? values[0];
  const kind = [type].flat()[0];
  if (kind === 'array') return items ? [sample(items, all)] : [];
  if (kind === 'integer' || kind === 'number') return 1;
  if (kind === 'boolean') return true;
  if (kind === 'string') return schema.pattern?.includes('fA-F') ? 'aaaaaaaa-0000-4000-8000-000000000001' : 'text';
  const names = new Set([...required, ...Object.keys(properties)]);
  return Object.fromEntries([...names].map((name) => [name, sample(properties[name] ?? {}, all)]));
}

// biome-ignore lint/suspicious/noExplicitAny: a part of an OpenAPI document
type Schema = any;

/** Answers each call of a contract with its first success, and a value that fits. */
async function stub(name: string) {
  const contract = parse(readFileSync(`docs/contracts/${name}.openapi.yaml`, 'utf8'));
  const operations = Object.entries<Schema>(contract.paths).flatMap(([path, methods]) =>
    Object.entries<Schema>(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const find = createRouter(operations);
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const { operation } = find(request.method ?? '', splitUrl(request.url ?? '').path).route ?? {};
      const [status, answer]: [string, Schema] = Object.entries<Schema>(operation?.responses ?? { 404: {} })[0] ?? [
        '404',
        {},
      ];
      const schema = answer.content?.['application/json'].schema;
      response.writeHead(Number(status), { 'content-type': 'application/json' });
      response.end(schema && JSON.stringify(sample(schema, contract)));
    });
  });
  return `http://127.0.0.1:${await portForTest(server)}`;
}

it('What a shape cannot satisfy fails at backends that only answer examples of the contracts, each with a sentence', async () => {
  const names = ['information-model', 'type-registry', 'principal-manager'] as const;
  const stubs = await Promise.all(names.map(stub));
  const urls = Object.fromEntries(names.map((name, i) => [name, stubs[i]]));
  const { results } = await runKit({ token: 'any', given: { ...urls, device: 'text', 'other-device': 'other' } });
  const broken = results.filter(({ outcome }) => outcome === 'broken');
  expect(broken.map(({ rule }) => rule.id)).toEqual(
    expect.arrayContaining([
      ...[
        'im.token.missing',
        'im.device.unknown',
        'im.create.again',
        'im.update.behind',
        'im.update.race',
        'im.query.none',
      ],
      ...[
        'im.bytes.integer',
        'im.references.identity',
        'im.device.read',
        'tr.read',
        'tr.read.unknown',
        'pm.resolve.unknown',
      ],
    ]),
  );
  expect(
    broken.filter(({ why }) => !/^(\w+ \/|in the answer to|the answer to|[a-z])/.test(why) || why.length > 300),
  ).toEqual([]);
});
