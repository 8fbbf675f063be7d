import { join } from 'node:path';
import { type Hub, startHub } from 'iot-hub-emulator';
import { createJournal } from 'iot-hub-emulator/journal';
import { stableHash } from 'iot-hub-emulator/testing';
import { startChild } from '../../bench/processes/child.ts';
import { appendEvent } from '../../support/events.ts';
import { createRandom } from '../random.ts';

/** A hub that knows the devices, and the URL of an information model (`fleetModel`). */
export async function startHubAndModel(
  closers: (() => unknown)[],
  directory: string,
  devices: readonly string[],
  ...model: [children: number, bytes: number, seed: number]
) {
  const program = '../../chaos/scenarios/fleetModel.ts';
  const { described, stop } = await startChild<{ port: number }>(program, model.map(String));
  closers.push(stop);
  const hub = await startHub({
    directory: join(directory, 'hub'),
    devices: devices.map((deviceId) => ({ deviceId })),
    journal: createJournal({ bytes: 65_536 }),
  });
  closers.push(hub.close);
  return { hub, backend: `http://127.0.0.1:${described.port}` };
}

/** For `fleetModel`, whose objects with children are those of devices called `fleet`. */
export const objectOf = (device: string): string => {
  const [kind = '', number = ''] = device.split('-');
  return `${number.padStart(8, '0')}-0000-4000-8000-00000000000${['good', 'fleet'].indexOf(kind) + 1}`;
};

type Sent = Readonly<{ properties: Readonly<Record<string, string>>; body: object }>;

export function append({ partitions }: Hub, device: string, { properties, body }: Sent): void {
  const text = Buffer.from(JSON.stringify(body));
  appendEvent(partitions[stableHash(device) % partitions.length], { device, properties, body: text });
}

export type Updates = ReturnType<typeof createUpdates>;

/** Sends `model.update` for devices, and takes down when and in which order they are answered. */
export function createUpdates(hub: Hub, devices: readonly string[]) {
  /** What each message is the how manieth of its device. */
  const sent = new Map<string, number>();
  const sentAt = new Map<string, number>();
  const last = new Map<string, number>();
  /** Answered before: a kill repeats what is in no checkpoint (G3). */
  const seen = new Set<string>();
  let latencies: number[] = [];
  let answered = 0;
  let inverted = 0;

  function send(device: string, number: number) {
    const id = `${device}/${number}`;
    sent.set(id, number);
    sentAt.set(id, performance.now());
    append(hub, device, {
      properties: {
        ...{ msgType: 'action', action: 'model.update', version: '2', ack: 'all', correlationId: id },
        objectId: objectOf(device),
      },
      body: { type: 'pump@1.0.0', version: number, properties: { speed: number } },
    });
  }

  const timers = new Map<string, NodeJS.Timeout>();

  return {
    sent,
    /** Each sends so often from now on; the seed decides in which order they begin. */
    send({ everyMs, beginMs, seed }: { readonly everyMs: number; readonly beginMs: number; readonly seed: number }) {
      const random = createRandom(seed);
      for (const device of devices) {
        let number = 0;
        const again = () => {
          number += 1;
          send(device, number);
          timers.set(device, setTimeout(again, everyMs));
        };
        timers.set(device, setTimeout(again, random.next() * beginMs));
      }
    },
    /** From sending to the acknowledgement of what was sent since `begin`, in ms, ascending; what is not answered took until now. */
    latencies() {
      const waiting = [...sentAt.values()].map((at) => performance.now() - at);
      return [...latencies, ...waiting].sort((one, other) => one - other);
    },
    begin() {
      latencies = [];
      sentAt.clear();
    },
    /** From now on the devices get what is sent to them. */
    fetch() {
      for (const device of devices) {
        hub.devicebound.listen(device, ({ message: { properties }, complete }) => {
          complete();
          const id = properties['correlationId'] ?? '';
          const number = sent.get(id);
          if (number === undefined) return; // of somebody else
          answered += 1;
          if (seen.has(id)) return;
          seen.add(id);
          if (number < (last.get(device) ?? 0)) inverted += 1;
          last.set(device, number);
          const at = sentAt.get(id);
          if (at !== undefined) latencies.push(performance.now() - at);
          sentAt.delete(id);
        });
      }
    },
    answered: () => answered,
    unanswered: () => sentAt.size,
    /** First replies that came after a later one. */
    inverted: () => inverted,
    stop() {
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
