import { setTimeout as sleep } from 'node:timers/promises';
import type { Device } from '../../sandbox/device/device.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { envelope } from '../../sandbox/stories/wire.ts';

const intervalMs = 250;
const bootMs = 60_000;

const bodyOf = (body: object) => Buffer.from(JSON.stringify(body));

/**
 * A device that creates an object model and then updates it, or its own key, until the signal. Each tenth message is one
 * that the service refuses.
 * @param index of the device: those with an even one use the information model, the others the principal manager
 */
export async function sendSteadily(sandbox: Sandbox, id: string, index: number, signal: AbortSignal): Promise<void> {
  const device = await sandbox.connect(id);
  const pump = { type: 'pump', properties: { serial: id, location: 'hall 1' } };
  await device.send(envelope('model.create', 'boot'), bodyOf({ ...pump, model: 'svc.device', name: id }));
  const objectId = await objectIdFrom(device);
  const reading = readAll(device, signal);
  await sleep(index * 30);
  for (let turn = 1; !signal.aborted; turn += 1) {
    if (turn % 10 === 0) {
      await device.send(envelope('model.update', `wrong-${turn}`), bodyOf({ version: 1 })); // no object id
    } else if (index % 2 === 0) {
      const version = turn - Math.floor(turn / 10);
      await device.send({ ...envelope('model.update', `update-${turn}`), objectId }, bodyOf({ ...pump, version }));
    } else {
      await device.send(envelope('identity.update', `key-${turn}`), bodyOf({ publicKey: `key-${turn}` }));
    }
    await sleep(intervalMs, undefined, { signal }).catch(() => {});
  }
  await reading;
  await device.close();
}

async function objectIdFrom(device: Device): Promise<string> {
  for (;;) {
    const reply = await device.next(bootMs);
    if (reply === undefined) throw new Error(`${device.id} got no answer to its first message`);
    if (reply.properties['msgType'] === 'ack') return JSON.parse(reply.body.toString()).objectId;
  }
}

async function readAll(device: Device, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await device.next(500);
}
