import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { fromCommandLine } from '../state/directories.ts';
import { readRunning } from '../state/state.ts';
import { createPrinter } from '../terminal/print.ts';
import { showMessage, unpack } from '../terminal/showMessage.ts';
import { explain } from '../terminal/usage.ts';
import { answerMethods } from './answerMethods.ts';
import { connectDevice, type Device, type Reply } from './device.ts';
import { help, readArguments, type Sending } from './options.ts';
import { registerDevice } from './register.ts';

const printer = createPrinter();
const { line, paint } = printer;
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
    const state = await readRunning(request.directory);
    const { connectionString, isNew } = await registerDevice(request.id, state);
    if (isNew) line(`${request.id} is new: it has been registered with hub and principal manager.`);
    device = await connectDevice({ id: request.id, connectionString, caFile: state.hub.caFile });
    if (request.methods) {
      await answerMethods(device, request.methods, printer, interruption());
      return 0;
    }
    await device.send(request.properties, body);
    line(`\n  ${paint('bold', `${request.id} sends`)}`);
    showMessage(printer, { properties: request.properties, body });
    return await receive(device, request);
  } catch (error) {
    process.stderr.write(`${explain(error, 'device')}\n`);
    return 3;
  } finally {
    await device?.close();
  }
}

/** Aborts at Ctrl-C or SIGTERM. */
function interruption(): AbortSignal {
  const interrupt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupt.abort());
  return interrupt.signal;
}

async function readBody(source: Sending['body']): Promise<Buffer> {
  if ('text' in source) return Buffer.from(source.text);
  const { file } = source;
  const body = file === '-' ? await buffer(process.stdin) : await readFile(fromCommandLine(file));
  if (!isUtf8(body) || parse(body) === undefined) line(`${file} is not well-formed JSON; it is sent unchanged.`);
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
    showMessage(printer, reply);
    if (acknowledges(reply, properties)) return succeeded(reply) ? 0 : 1;
  }
}

/** Replies to earlier messages of the device have other ids. */
function acknowledges(reply: Reply, sent: Readonly<Record<string, string>>): boolean {
  const { msgType, correlationId, id } = reply.properties;
  if (msgType === 'ack') return correlationId === sent['correlationId'];
  return reply.properties['svc-messagetype'] === 'platformEventAck' && (!sent['id'] || id === sent['id']);
}

function succeeded(reply: Reply): boolean {
  const body = parse(unpack(reply));
  return typeof body === 'object' && body !== null && 'success' in body && body.success === true;
}
