import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createClient } from './client.ts';
import { backends, encoded, type Given } from './kit.ts';
import { jsonReport, junitReport, resultText, summaryText } from './report.ts';
import { rules } from './rules/index.ts';
import { isFailure, runKit } from './run.ts';

const usage = `Usage: backends [options]

Plays the service against your backends, and says rule by rule what holds. It
makes types and object models under names of its own, which stay; it changes
nothing else but what it is given to change.

  --information-model URL     default: INFORMATION_MODEL_URL
  --type-registry URL         default: TYPE_REGISTRY_URL
  --principal-manager URL     default: PRINCIPAL_MANAGER_URL
  --token T                   of the service; default: BACKENDS_TOKEN, or one
                              from BACKENDS_TOKEN_URL, as the service gets it
  --device ID                 a directly connected device that exists
  --other-device ID           another one of its tenant
  --other-tenant-device ID    one of another tenant
  --expendable-identity PATH  an identity below the device: updated and deleted
  --unclaimed-object ID       of an object model without an owner: claimed
  --caller-token T            of an application that may invoke methods
  --reader-token T            of one that may read, and not invoke
  --only A,B                  rules whose ids begin so: im.create,tr
  --timeout S                 seconds that a call may take; default 30,
                              as the service has it
  --list                      print the rules, and try none
  --json                      print the result as JSON
  --junit FILE                write it as JUnit, too
  --quiet                     leave out the rules that hold

Rules that need what is not given are not tried. Exit code: 0 if no rule of
level must is broken, 1 if one is, or a backend keeps rules from being tried,
2 if nothing could be tried.
docs/backends.md has the contract.
`;

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;
const options = {
  ...{ 'information-model': text, 'type-registry': text, 'principal-manager': text, token: text, device: text },
  ...{ 'other-device': text, 'other-tenant-device': text, 'expendable-identity': text, 'unclaimed-object': text },
  ...{ 'caller-token': text, 'reader-token': text, only: text, timeout: text, junit: text },
  ...{ list: flag, json: flag, quiet: flag, help: flag },
} as const;

const variables = {
  'information-model': 'INFORMATION_MODEL_URL',
  'type-registry': 'TYPE_REGISTRY_URL',
  'principal-manager': 'PRINCIPAL_MANAGER_URL',
} as const;

/** The value of a variable; undefined also when it is empty. */
const environment = (name: string): string | undefined => process.env[name] || undefined;
/** Of a secret: the value, or what is in its file. */
const secretOf = (name: string): string | undefined => {
  const file = environment(`${name}_FILE`);
  return environment(name) ?? (file && readFileSync(file, 'utf8').replace(/[\r\n]+$/, ''));
};
const print = (line: string) => process.stdout.write(`${line}\n`);

process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 2));
void main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: Error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  },
);

async function main(): Promise<number> {
  const { values } = parseArgs({ options });
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  if (values.list) {
    for (const { id, level, says, otherwise } of rules)
      print(`${id.padEnd(24)} ${level.padEnd(7)}${says} Otherwise: ${otherwise}`);
    return 0;
  }
  const { token: _, only, timeout, junit, json, quiet, list: _list, help: _help, ...named } = values;
  if (named.device === undefined)
    throw new Error('--device is missing: the id of a directly connected device that exists');
  const timeoutMs = Number(timeout ?? 30) * 1000;
  if (!(timeoutMs > 0)) throw new Error('--timeout takes a number of seconds');
  const urls = Object.fromEntries(backends.map((name) => [name, named[name] ?? environment(variables[name])]));
  const given: Given = { ...named, device: named.device, ...urls };
  await reach(given, timeoutMs);
  const outcome = await runKit({
    ...{ given, token: values.token ?? (await tokenOf(timeoutMs)), timeoutMs },
    only: only?.split(',') ?? [],
    onResult: (result) => {
      if (!json && !(quiet && result.outcome === 'holds')) print(resultText(result));
    },
  });
  if (outcome.results.length === 0) throw new Error('--only names no rule; --list prints them');
  if (outcome.results.every((result) => result.outcome === 'not tried'))
    throw new Error(`no rule could be tried: ${outcome.results[0]?.why}`);
  print(json ? JSON.stringify(jsonReport(outcome), undefined, 2) : `\n${summaryText(outcome)}`);
  if (junit !== undefined) writeFileSync(junit, junitReport(outcome));
  return outcome.results.some(isFailure) ? 1 : 0;
}

/** @throws Error with a sentence, if none is given, or one that is given cannot be reached */
async function reach(given: Given, timeoutMs: number): Promise<void> {
  const urls = backends.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]] as const]));
  if (urls.length === 0)
    throw new Error(`give at least one backend: ${backends.map((name) => `--${name} URL`).join(', ')}`);
  for (const [name, url] of urls) {
    if (!(URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)))
      throw new Error(`--${name} takes an http or https URL`);
    const client = createClient(url, timeoutMs);
    const { failure } = await client.send({
      method: 'GET',
      path: `/devices?device=${encoded(given.device)}`,
      headers: {},
    });
    client.close();
    if (failure !== undefined) throw new Error(`the backend of --${name} cannot be reached: ${failure}`);
  }
}

/** The token of the service, from the environment as the service has it. @throws Error with a sentence */
async function tokenOf(timeoutMs: number): Promise<string> {
  const fixed = secretOf('BACKENDS_TOKEN');
  if (fixed !== undefined) return fixed;
  const url = environment('BACKENDS_TOKEN_URL');
  if (url === undefined) throw new Error('--token is missing, and so are BACKENDS_TOKEN and BACKENDS_TOKEN_URL');
  const [id = '', secret = ''] = [environment('BACKENDS_CLIENT_ID'), secretOf('BACKENDS_CLIENT_SECRET')];
  const scope = environment('BACKENDS_TOKEN_SCOPE');
  const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret, ...(scope && { scope }) };
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form), signal }).catch(
    (error: Error) => {
      throw new Error(`the token endpoint cannot be reached: ${error.message}`);
    },
  );
  const answer = (await response.json().catch(() => undefined)) as { readonly access_token?: unknown } | undefined;
  if (typeof answer?.access_token !== 'string')
    throw new Error(`the token endpoint answers ${response.status} without \`access_token\``);
  return answer.access_token;
}
