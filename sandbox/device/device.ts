import { readFile } from 'node:fs/promises';
import sdk from 'azure-iot-device';
import transport from 'azure-iot-device-mqtt';

/** A cloud-to-device message as the device's client hands it over. */
export interface Reply {
  properties: Record<string, string>;
  messageId?: string;
  correlationId?: string;
  contentType?: string;
  contentEncoding?: string;
  body: Buffer;
}

/** A device with a real MQTT connection, made by the official device client. */
export interface Device {
  id: string;
  /** Resolves when the hub has taken the message. The body travels byte for byte. */
  send(properties: Readonly<Record<string, string>>, body: Uint8Array): Promise<void>;
  /** The next reply, in the hub's order; `undefined` when none came in time. Rejects when the connection is lost. */
  next(withinMs: number): Promise<Reply | undefined>;
  /**
   * Answers direct methods of this name from now on: `handler` receives the payload and calls `send` with the answer. Resolves
   * when the hub knows that the device listens.
   */
  onMethod(name: string, handler: MethodHandler): Promise<void>;
  /** Rejects when the connection is lost; never resolves. */
  readonly lost: Promise<never>;
  close(): Promise<void>;
}

/** What a device does when a direct method is called; `send` resolves when the answer is on its way. */
export type MethodHandler = (
  payload: unknown,
  send: (status: number, payload?: unknown) => Promise<void>,
) => Promise<void>;

export interface DeviceOptions {
  id: string;
  connectionString: string;
  /** PEM file of the authority that signed the hub's certificate; absent: one that Node.js trusts. */
  caFile?: string;
}

/** Until its first connection the client calls every failure this, a closed port too. */
const firstFailure = /^mqtt\.js returned Failure on first connection \(Not authorized\): (.*) error$/s;

/** Rejects when the hub can't be reached or refuses the device. */
export async function connectDevice({ id, connectionString, caFile }: DeviceOptions): Promise<Device> {
  const client = sdk.Client.fromConnectionString(connectionString, transport.Mqtt);
  // A failing connection is reported at once, not after minutes of retries.
  client.setRetryPolicy({ shouldRetry: () => false, nextRetryTimeout: () => 0 });
  if (caFile !== undefined) await client.setOptions({ ca: await readFile(caFile, 'utf8') });

  const replies: Reply[] = [];
  let lost: Error | undefined;
  let closed = false;
  let wake = () => {};
  let lose: (error: Error) => void = () => {};
  const loss = new Promise<never>((_, reject) => {
    lose = reject;
  });
  loss.catch(() => {}); // a caller need not wait for it

  // Before it connects: a session that the hub kept brings its messages at once. The client opens for it, as `open` does.
  client.on('message', (message: InstanceType<typeof sdk.Message>) => {
    replies.push(toReply(message));
    client.complete(message).catch(fail);
    wake();
  });
  let isOpen = false;
  client.on('error', (error) => {
    if (isOpen) fail(error); // until then `open` says it
  });
  client.on('disconnect', (cause?: Error) => fail(cause));

  function fail(cause: unknown) {
    lost ??= new Error(`The connection of device ${JSON.stringify(id)} has ended`, { cause });
    lose(lost);
    wake();
  }

  await client.open().catch(({ message }: Error) => {
    throw new Error(`Cannot connect to the hub: ${message.replace(firstFailure, '$1')}`);
  });
  isOpen = true;

  return {
    id,

    async send(properties, body) {
      const message = new sdk.Message(Buffer.from(body));
      for (const [name, value] of Object.entries(properties)) message.properties.add(name, value);
      await client.sendEvent(message);
    },

    async next(withinMs) {
      if (replies.length === 0 && !lost) {
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
          timer = setTimeout(resolve, withinMs);
        });
        clearTimeout(timer);
      }
      const reply = replies.shift();
      if (!reply && lost) throw lost;
      return reply;
    },

    async onMethod(name, handler) {
      client.onDeviceMethod(name, (request, response) => {
        const send = async (status: number, payload?: unknown) => {
          await response.send(status, payload);
        };
        handler(request.payload, send).catch(fail);
      });
      // The client does not say when its subscription holds. The hub takes its packets in order, and answers this one.
      await client.getTwin();
    },

    lost: loss,

    async close() {
      if (closed) return;
      closed = true;
      fail('closed');
      await client.close();
    },
  };
}

function toReply(message: InstanceType<typeof sdk.Message>): Reply {
  const properties: Record<string, string> = Object.create(null);
  for (const { key, value } of message.properties.propertyList) properties[key] = value;
  return {
    properties,
    ...(message.messageId && { messageId: message.messageId }),
    ...(message.correlationId && { correlationId: message.correlationId }),
    ...(message.contentType && { contentType: message.contentType }),
    ...(message.contentEncoding && { contentEncoding: message.contentEncoding }),
    body: message.getBytes(),
  };
}
