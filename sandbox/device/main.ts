import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { createPrinter } from '../print.ts';
import { showMessage, unpack } from '../showMessage.ts';
import { isRunning, readState } from '../state.ts';
import { answerMethods } from './answerMethods.ts';
import { connectDevice, type Device, type Reply } from './device.ts';
import { introduceDevice } from './introduce.ts';
import { fromWhereThePersonIs, help, readArguments, type Sending } from './options.ts';

const { line, paint, ...printer } = createPrinter();
process.exitCode = await main();

async function main(): Promise<number> {
  let device: Device | undefined;
  try {
    const request = readArguments();
    if (!request) {
      line(help);
      return 0;
    }
    const body = request.methods ? Buffer.of() : await readBody(request.body);
    const state = await readState(request.directory);
    if (!state || !(await isRunning(state))) throw new Error('No sandbox is running. Start one with: npm run sandbox');

    const { connectionString, introduced } = await introduceDevice(request.id, state);
    if (introduced) line(`The sandbox did not know ${request.id}: it has been introduced.`);
    device = await connectDevice({ id: request.id, connectionString, caFile: state.hub.caFile });
    if (request.methods) {
      await answerMethods(device, request.methods, { line, paint, ...printer }, interruption());
      return 0;
    }
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

/** Ctrl-C, or an order to end. */
function interruption(): AbortSignal {
  const interrupt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupt.abort());
  return interrupt.signal;
}

async function readBody(source: Sending['body']): Promise<Buffer> {
  if ('text' in source) return Buffer.from(source.text);
  const { file } = source;
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

async function receive(device: Device, { properties, expectsAck, waitMs }: Sending): Promise<number> {
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
