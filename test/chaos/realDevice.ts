import { setTimeout as sleep } from 'node:timers/promises';
import type { Hub } from '../../iot-hub-emulator/src/hub.ts';
import { connectDevice, type Device } from '../../sandbox/device/device.ts';
import { idOf, type Message } from './sealed.ts';

/** A device with a connection of its own, which it opens again whenever it is lost. */
export interface RealDevice {
  /** Resolves when the hub has the message, once. Rejects when that takes too long. */
  send(message: Message): Promise<void>;
  close(): Promise<void>;
}

const patienceMs = 30_000;

export function createRealDevice(hub: Hub, id: string): RealDevice {
  let device: Device | undefined;

  async function close(): Promise<void> {
    const old = device;
    device = undefined;
    await old?.close().catch(() => undefined); // what is broken already cannot be closed, and need not be
  }

  async function attempt({ properties, body }: Message): Promise<boolean> {
    try {
      device ??= await connectDevice({ id, connectionString: hub.deviceConnectionString(id), caFile: hub.caFile });
      await device.send(properties, body);
      return true;
    } catch {
      await close();
      return false;
    }
  }

  /** A message may have arrived although nobody came to say so: sent again, it would be another message. */
  const hasArrived = (message: Message) =>
    hub.journal.list({ kind: 'd2c', deviceId: id }).some(({ properties }) => idOf(properties) === message.id);

  return {
    async send(message) {
      const until = performance.now() + patienceMs;
      while (!(await attempt(message)) && !hasArrived(message)) {
        if (performance.now() > until) throw new Error(`${id} cannot reach the hub`);
        await sleep(100);
      }
    },
    close,
  };
}
