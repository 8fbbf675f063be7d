import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { fromCommandLine } from '../state/directories.ts';
import { readRunning } from '../state/state.ts';
import { createPrinter, type Printer } from '../terminal/print.ts';
import { showMessage, unpack } from '../terminal/showMessage.ts';
import type { Streams } from '../terminal/streams.ts';
import { explain } from '../terminal/usage.ts';
import { answerMethods } from './answerMethods.ts';
import { connectDevice, type Device, type Reply } from './device.ts';
import { help, readArguments, type SendOptions } from './deviceOptions.ts';
import { registerDevice } from './register.ts';

/**
 * Runs `npm run device` with these arguments; returns its exit code.
 * @param interruption of a device that answers methods; not called for one that sends
 */
export async function sendOrAnswer(
  args: readonly string[],
  { stdin, stdout, stderr }: Streams,
  interruption: () => AbortSignal,
): Promise<number> {
  const printer = createPrinter(stdout);
  const { line, paint } = printer;
  let device: Device | undefined;
  try {
    const request = readArguments(args);
    if (!request) {
      line(help);
      return 0;
    }
    const body = request.methods ? Buffer.of() : await readBody(request.body, stdin, printer);
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
    return await receive(device, request, printer);
  } catch (error) {
    stderr.write(`${explain(error, 'device')}\n`);
    return 3;
  } finally {
    await device?.close();
  }
}

async function readBody(source: SendOptions['body'], stdin: NodeJS.ReadableStream, { line }: Printer): Promise<Buffer> {
  if ('text' in source) return Buffer.from(source.text);
  const { file } = source;
  const body = file === '-' ? await buffer(stdin) : await readFile(fromCommandLine(file));
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

async function receive(
  device: Device,
  { properties, expectsAck, waitMs }: SendOptions,
  printer: Printer,
): Promise<number> {
  const { line, paint } = printer;
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
