import type { Hub } from 'iot-hub-emulator';
import { connectedDevice } from '../../../iot-hub-emulator/test/support/device.ts';

/** A call of a direct method. */
export interface Received {
  readonly name: string;
  /** The payload as received. */
  readonly text: string;
  readonly payload: Payload;
  respond(status: number, payload: unknown): void;
}

/** Payload of the front door (M6). */
interface Payload {
  readonly correlationId: string;
  readonly objectId: string;
  readonly model: string;
  readonly target: string;
  readonly method: string;
  readonly timeout: number;
  readonly input?: Record<string, unknown>;
  readonly files?: Record<string, { readonly url: string; readonly bytes: number; readonly etag: string }>;
}

/** The method has succeeded. */
export const succeed = (call: Received): void => call.respond(200, { status: 0 });

/**
 * A device that listens to direct methods, packet by packet.
 * @param answer what it does with each; by default nothing
 */
export async function methodDevice(hub: Hub, deviceId: string, answer: (received: Received) => void = () => {}) {
  const raw = await connectedDevice(hub, deviceId);
  raw.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '$iothub/methods/POST/#', qos: 0 }] });
  await raw.next('suback');
  const received: Received[] = [];
  const takers: ((call: Received) => void)[] = [];
  let taken = 0;

  async function listen() {
    for (;;) {
      const { topic, payload } = await raw.next('publish');
      const [, name = '', rid = ''] = /^\$iothub\/methods\/POST\/([^/]+)\/\?\$rid=(.*)$/.exec(topic) ?? [];
      const text = payload.toString();
      const call: Received = {
        name,
        text,
        payload: JSON.parse(text),
        respond: (status, body) =>
          raw.send({
            ...{ cmd: 'publish', topic: `$iothub/methods/res/${status}/?$rid=${rid}` },
            ...{ payload: typeof body === 'string' ? body : JSON.stringify(body), qos: 0, dup: false },
            retain: false,
          }),
      };
      received.push(call);
      const taker = takers.shift();
      if (taker) {
        taken += 1;
        taker(call);
      }
      answer(call);
    }
  }
  void listen();

  return {
    raw,
    received: received as readonly Received[],
    /** The next call that has not been returned yet. */
    next(): Promise<Received> {
      const there = received[taken];
      if (there !== undefined) {
        taken += 1;
        return Promise.resolve(there);
      }
      return new Promise((resolve) => takers.push(resolve));
    },
    async close() {
      raw.socket.destroy();
      await raw.closed;
    },
  };
}
