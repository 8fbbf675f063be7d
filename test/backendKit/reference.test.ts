import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRouter, splitUrl } from 'iot-hub-emulator/http';
import { beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { jsonReport, junitReport, resultText } from '../../backend-kit/report.ts';
import { rules } from '../../backend-kit/rules/index.ts';
import { type Outcome, runKit } from '../../backend-kit/run.ts';
import { portForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { startBackends } from '../../sandbox/backends/backends.ts';
import { execFile } from '../../sandbox/service/endWithUs.ts';
import { givenBy, notHolding, runWith } from './faulty.ts';

async function withReference<T>(run: (given: Awaited<ReturnType<typeof givenBy>>) => Promise<T>): Promise<T> {
  const backends = await startBackends({ seed: true });
  try {
    return await run(await givenBy(backends));
  } finally {
    await backends.close();
  }
}

let reference: Outcome;
beforeAll(async () => {
  reference = await withReference(({ given, token }) => runKit({ given, token }));
});

it('The reference backends hold each rule', () =>
  expect([reference.results.length, notHolding(reference)]).toEqual([rules.length, []]));

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
function program(args: readonly string[]) {
  const command = ['scripts/run.js', 'backend-kit/main.ts', ...args];
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) =>
    execFile(process.execPath, command, { env: {} }, (error, stdout, stderr) =>
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
