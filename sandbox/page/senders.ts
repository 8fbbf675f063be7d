import type { Journal } from 'iot-hub-emulator/journal';
import type { Device } from '../device/device.ts';

/** A message as a person wants a device to send it. */
export interface Sending {
  readonly deviceId: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Devices that the page sends as. */
export interface Senders {
  /** Sends, and resolves with the position of the message in the journal. */
  send(message: Sending): Promise<number>;
  close(): Promise<void>;
}

/** A device stays connected for so long after its last message, to take the replies. */
const idleMs = 60_000;
/** Connected at once; the one that sent longest ago goes. */
const most = 16;

interface Sender {
  readonly device: Promise<Device>;
  idle: NodeJS.Timeout;
}

export function createSenders(journal: Journal, connect: (deviceId: string) => Promise<Device>): Senders {
  const senders = new Map<string, Sender>();

  async function drop(deviceId: string): Promise<void> {
    const sender = senders.get(deviceId);
    senders.delete(deviceId);
    clearTimeout(sender?.idle);
    await sender?.device.then((device) => device.close()).catch(() => {});
  }

  function connected(deviceId: string): Promise<Device> {
    const known = senders.get(deviceId);
    const device = known?.device ?? connect(deviceId);
    clearTimeout(known?.idle);
    const idle = setTimeout(() => void drop(deviceId), idleMs).unref();
    senders.delete(deviceId);
    senders.set(deviceId, { device, idle });
    const isCurrent = () => senders.get(deviceId)?.device === device;
    if (!known) {
      const forget = () => void (isCurrent() && drop(deviceId));
      void device.then(({ lost }) => lost.catch(forget), forget);
    }
    const [oldest] = senders.keys();
    if (senders.size > most && oldest !== undefined) void drop(oldest);
    return device;
  }

  return {
    async send({ deviceId, properties, body }) {
      const device = await connected(deviceId);
      const since = journal.last;
      await device.send(properties, Buffer.from(body));
      const sent = journal.list({ since, deviceId, kind: 'd2c' });
      return sent.at(-1)?.position ?? journal.last;
    },
    async close() {
      await Promise.all([...senders.keys()].map(drop));
    },
  };
}
