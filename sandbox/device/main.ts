import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { createPrinter } from '../print.ts';
import { showMessage, unpack } from '../showMessage.ts';
import { isRunning, readState, sandboxDirectory } from '../state.ts';
import { connectDevice, type Device, type Reply } from './device.ts';
import { introduceDevice } from './introduce.ts';

const help = `Sends one message as a device and prints every reply, until the acknowledgement is there.

  npm run device -- [options] NAME FILE

  NAME   what to send: model.create, … (V2), or Svc.Device.Created, … (V1)
  FILE   the body, sent byte for byte as it is; - reads it from stdin

  --id ID          the device, default pump-1; an unknown one is introduced to the sandbox first
  --ack WHEN       none, positive, negative or all (default)
  --prop NAME=VALUE  one more application property, or another value for one; may be repeated
  --without NAME   leaves out a property that is normally sent; may be repeated
  --wait SECONDS   how long to wait for the acknowledgement, default 30; with --ack none how long to listen, default 0
  --directory D    of the sandbox, default .sandbox
  --help

Exit code: 0 a successful acknowledgement (or none was asked for), 1 a failed one, 2 none in time, 3 nothing was sent.`;

const { line, paint, ...printer } = createPrinter();
process.exitCode = await main();

async function main(): Promise<number> {
  let device: Device | undefined;
  try {
    const request = readArguments();
    if (!request) return 0;
    const body = await readBody(request.file);
    const state = await readState(request.directory);
    if (!state || !(await isRunning(state))) throw new Error('No sandbox is running. Start one with: npm run sandbox');

    const { connectionString, introduced } = await introduceDevice(request.id, state);
    if (introduced) line(`The sandbox did not know ${request.id}: it has been introduced.`);
    device = await connectDevice({ id: request.id, connectionString, caFile: state.hub.caFile });
    await device.send(request.properties, body);
    line(`\n  ${paint('bold', `${request.id} sends`)}`);
    showMessage({ line, paint, ...printer }, { properties: request.properties, body });
    return await receive(device, request);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    return 3;
  } finally {
    await device?.close();
  }
}

interface Request {
  id: string;
  /** Of the sandbox. */
  directory: string;
  file: string;
  expectsAck: boolean;
  waitMs: number;
  properties: Record<string, string>;
}

function readArguments(): Request | undefined {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      id: { type: 'string', default: 'pump-1' },
      ack: { type: 'string', default: 'all' },
      prop: { type: 'string', multiple: true, default: [] },
      without: { type: 'string', multiple: true, default: [] },
      wait: { type: 'string' },
      directory: { type: 'string', default: sandboxDirectory },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    line(help);
    return undefined;
  }
  const [name, file, ...rest] = positionals;
  if (!name || !file || rest.length > 0) throw new Error(`A message name and a file are needed.\n\n${help}`);
  const expectsAck = values.ack !== 'none';
  const waitMs = 1000 * Number(values.wait ?? (expectsAck ? 30 : 0));
  if (!(waitMs >= 0)) throw new Error(`--wait takes seconds, not ${JSON.stringify(values.wait)}`);

  const properties = { ...envelope(name, values.ack), ...Object.fromEntries(values.prop.map(split)) };
  for (const unwanted of values.without) delete properties[unwanted];
  return { id: values.id, directory: fromWhereThePersonIs(values.directory), file, expectsAck, waitMs, properties };
}

/** The properties that every message of its generation has. */
function envelope(name: string, ack: string): Record<string, string> {
  return name.startsWith('Svc.')
    ? { 'svc-messagetype': 'platformEvent', eventType: name, id: randomUUID(), ack }
    : { msgType: 'action', action: name, version: '2', correlationId: randomUUID(), ack };
}

function split(pair: string): [string, string] {
  const at = pair.indexOf('=');
  if (at < 1) throw new Error(`--prop takes NAME=VALUE, not ${JSON.stringify(pair)}`);
  return [pair.slice(0, at), pair.slice(at + 1)];
}

/** npm starts scripts in the project's folder; a path is meant from where the person is. */
function fromWhereThePersonIs(path: string): string {
  return resolve(process.env['INIT_CWD'] ?? '.', path);
}

async function readBody(file: string): Promise<Buffer> {
  const body = file === '-' ? await buffer(process.stdin) : await readFile(fromWhereThePersonIs(file));
  if (!isUtf8(body) || parse(body) === undefined) line(`${file} is not well-formed JSON; it is sent as it is.`);
  return body;
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

async function receive(device: Device, { properties, expectsAck, waitMs }: Request): Promise<number> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const reply = await device.next(Math.max(0, deadline - performance.now()));
    if (!reply && !expectsAck) return 0;
    if (!reply) {
      line(`\nNo acknowledgement within ${waitMs / 1000} s.`);
      return 2;
    }
    line(`\n  ${paint('bold', `${device.id} receives`)}`);
    showMessage({ line, paint, ...printer }, reply);
    if (acknowledges(reply, properties)) return succeeded(reply) ? 0 : 1;
  }
}

/** Earlier messages of the device may still have replies on their way: the ids tell. */
function acknowledges(reply: Reply, sent: Readonly<Record<string, string>>): boolean {
  const { msgType, correlationId, id } = reply.properties;
  if (msgType === 'ack') return correlationId === sent['correlationId'];
  return reply.properties['svc-messagetype'] === 'platformEventAck' && (!sent['id'] || id === sent['id']);
}

function succeeded(reply: Reply): boolean {
  const body = parse(unpack(reply));
  return typeof body === 'object' && body !== null && 'success' in body && body.success === true;
}
