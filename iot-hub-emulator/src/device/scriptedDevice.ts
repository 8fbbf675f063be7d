import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import rhea, { type Connection, type EventContext, type Sender } from 'rhea';
import { signSas } from '../identity/sas.ts';
import type { Script } from './script.ts';

/** Where a device is a device, and its key. */
export interface DeviceAddress {
  readonly deviceId: string;
  /** Base64. */
  readonly key: string;
  readonly hostName: string;
  /** Of AMQP over TLS. */
  readonly port: number;
  /** PEM of the authority behind it. */
  readonly ca: string;
}

/** Something that a device did, for people; what others wrote is in it as JSON. */
export type Say = (deviceId: string, what: string) => void;

const tokenSeconds = 3600;
const [firstPauseMs, longestPauseMs] = [500, 10_000];
/** For the hub to take a connection, and to end one. */
const [openMs, closeMs] = [30_000, 1_000];

/**
 * A device that plays a script over AMQP (H32), and connects again whenever its connection ends. Resolves when it has sent everything
 * and no method can be called, or when `signal` is aborted.
 */
export async function playScript(at: DeviceAddress, script: Script, say: Say, signal: AbortSignal): Promise<void> {
  const progress = { sent: 0, pauseMs: firstPauseMs };
  while (!signal.aborted) {
    const why = await connectOnce(at, script, progress, say, signal);
    if (why === undefined || signal.aborted) return;
    say(at.deviceId, `is not connected: ${why}; again in ${progress.pauseMs / 1000} s`);
    await sleep(progress.pauseMs, undefined, { signal }).catch(() => undefined);
    progress.pauseMs = Math.min(2 * progress.pauseMs, longestPauseMs);
  }
}

/** What goes on with the next connection. */
interface Progress {
  /** Messages that the hub has taken. */
  sent: number;
  pauseMs: number;
}

/** Why the connection ended; undefined when nothing is left to do. */
async function connectOnce(
  { deviceId, key, hostName, port, ca }: DeviceAddress,
  { telemetry, methods }: Script,
  progress: Progress,
  say: Say,
  signal: AbortSignal,
): Promise<string | undefined> {
  const over = new AbortController();
  const expiry = Math.floor(Date.now() / 1000) + tokenSeconds;
  const container = rhea.create_container({ id: deviceId });
  const connection = container.connect({
    ...{ transport: 'tls', host: hostName, servername: hostName, port, ca, reconnect: false, idle_time_out: 120_000 },
    username: `${deviceId}@sas.${hostName.split('.')[0]}`,
    password: signSas(`${hostName}/devices/${deviceId}`, key, 'base64', expiry),
  } as Parameters<typeof container.connect>[0]);

  const ended = new Promise<string | undefined>((resolve) => {
    const end = (why?: string) => {
      if (over.signal.aborted) return;
      over.abort();
      clearTimeout(silence);
      resolve(why);
      connection.close();
      const { socket } = connection as unknown as { readonly socket?: Socket };
      // rhea notices an error, not that the socket has closed: it would wait for the hub
      setTimeout(() => socket?.destroy(new Error('left')), closeMs).unref();
    };
    const silence = setTimeout(() => end('the hub does not answer'), openMs);
    for (const event of ['connection_close', 'sender_close', 'receiver_close', 'disconnected', 'error'] as const)
      connection.on(event as 'disconnected', (context: EventContext) => end(reasonOf(context)));
    signal.addEventListener('abort', () => end(), { signal: over.signal });
    connection.on('connection_open', () => {
      clearTimeout(silence);
      progress.pauseMs = firstPauseMs;
      say(deviceId, 'is connected');
      if (methods) answerMethods(connection, deviceId, methods, say, over.signal);
      if (!telemetry) return;
      const sender = connection.open_sender(`/devices/${encodeURIComponent(deviceId)}/messages/events`);
      sender.once(
        'sendable',
        () =>
          void sendAll(sender, telemetry, progress, (what) => say(deviceId, what), over.signal).then(
            () => methods ?? end(),
            () => undefined, // the connection has ended
          ),
      );
    });
  });
  return ended;
}

function reasonOf(context: EventContext & { readonly error?: Error }): string {
  const { connection, sender, receiver, error = connection?.error ?? sender?.error ?? receiver?.error } = context;
  const { description, message = 'the hub has ended it' } = (error ?? {}) as Partial<Error & { description: string }>;
  return description ?? message;
}

/** Sends what is left of the telemetry, each message again until the hub has taken it. Rejects when the connection has ended. */
async function sendAll(
  sender: Sender,
  { everyMs, times = Number.POSITIVE_INFINITY, messages }: NonNullable<Script['telemetry']>,
  progress: Progress,
  say: (what: string) => void,
  signal: AbortSignal,
): Promise<void> {
  while (progress.sent < times) {
    const { body, properties } = messages[progress.sent % messages.length] ?? messages[0];
    const isText = typeof body === 'string';
    const text = isText ? body : (JSON.stringify(body) ?? '');
    sender.send({
      application_properties: properties,
      ...(!isText && body !== undefined && { content_type: 'application/json', content_encoding: 'utf-8' }),
      body: rhea.message.data_section(Buffer.from(text)),
    });
    const outcome = await new Promise<string>((resolve, reject) => {
      signal.addEventListener('abort', reject, { once: true });
      for (const event of ['accepted', 'rejected', 'released', 'modified'] as const)
        sender.once(event, () => {
          signal.removeEventListener('abort', reject);
          resolve(event);
        });
    });
    sender.removeAllListeners();
    if (outcome === 'accepted') progress.sent += 1;
    say(`${outcome === 'accepted' ? 'sent' : `sends again what was ${outcome}:`} ${visible(text)}`);
    if (progress.sent < times) await sleep(everyMs, undefined, { signal });
  }
}

function answerMethods(
  connection: Connection,
  deviceId: string,
  methods: NonNullable<Script['methods']>,
  say: Say,
  signal: AbortSignal,
): void {
  const address = `/devices/${encodeURIComponent(deviceId)}/methods/devicebound`;
  const properties = {
    'com.microsoft:channel-correlation-id': randomUUID(), // the two links belong together
    'com.microsoft:api-version': '2021-04-12',
  };
  const answers = connection.open_sender({ target: { address }, properties } as object);
  const calls = connection.open_receiver({ source: { address }, properties } as object);
  calls.on('message', async ({ message }: EventContext) => {
    const name = String(message?.application_properties?.['IoThub-methodname']);
    const input = String((message?.body as { content?: unknown } | undefined)?.content ?? '');
    const { status, payload, delayMs } = (Object.hasOwn(methods, name) && methods[name]) || notImplemented;
    await sleep(delayMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    answers.send({
      ...(message?.correlation_id !== undefined && { correlation_id: message.correlation_id }),
      application_properties: { 'IoThub-status': rhea.types.wrap_int(status) },
      body: rhea.message.data_section(Buffer.from(JSON.stringify(payload))),
    });
    say(deviceId, `answered ${visible(name)} ${visible(input)} with ${status} ${visible(JSON.stringify(payload))}`);
  });
}

const notImplemented = { status: 501, payload: null, delayMs: 0 };

/** Without what would change the terminal, and not too long. */
const visible = (text: string): string => text.slice(0, 500).replace(/\p{C}/gu, '\u{fffd}');
