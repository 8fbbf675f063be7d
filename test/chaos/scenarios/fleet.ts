import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Hub } from 'iot-hub-emulator';
import { freePort } from '../../../sandbox/service/freePort.ts';
import { type ServiceProcess, serviceCommand, startService } from '../../../sandbox/service/process.ts';
import { percentile } from '../../bench/figures.ts';
import { residentOf } from '../../bench/processes/program.ts';
import { closingAll, environmentOf, mostBeside, named, type Scenario, type ScenarioOptions } from './scenario.ts';
import { append, createUpdates, objectOf, startHubAndModel, type Updates } from './updates.ts';
import { limitMemory } from './withinMemory.ts';

const memoryLimit = 2 ** 30; // deploy/kubernetes
const fleetSize = 500;
const children = 150;
const childBytes = 52_000;
const goodDevices = 20;
const quietMs = 15_000;
const patienceMs = 15 * 60_000;

export const fleet: Scenario = {
  name: 'fleet',
  about: `${fleetSize} devices fetch ${(children * childBytes) / 1e6} MB each, beside ${goodDevices} that send updates, in 1 GiB`,
  async run({ directory, serviceDirectory, seed, say }) {
    return closingAll(async (closers) => {
      const ids = [...fleetIds, ...goodIds];
      const { hub, backend } = await startHubAndModel(closers, directory, ids, children, childBytes, seed);
      const seen = listen(hub);
      const limit = limitMemory('device-messaging-fleet', memoryLimit);
      closers.push(limit.remove);
      const url = `http://127.0.0.1:${await freePort()}`;
      const service = await startService({
        command: limit.command(serviceCommand),
        directory: serviceDirectory,
        environment: environmentOf(hub, backend, url, directory),
        ...{ readyzUrl: `${url}/readyz`, logFile: join(directory, 'service.log'), readyWithinMs: 300_000 },
      });
      closers.push(service.kill);
      const end = service.exited.then(({ reason }) => reason);

      const updates = createUpdates(hub, goodIds);
      closers.push(updates.stop);
      updates.fetch();
      updates.send({ everyMs: 1_000, beginMs: 1_000, seed });
      await sleep(quietMs);
      const alone = percentile(updates.latencies(), 0.95);
      say(`p95 of ${goodDevices} devices without the fleet: ${alone.toFixed(0)} ms`);
      updates.begin();
      const began = performance.now();
      for (const device of fleetIds) append(hub, device, syncModel(device));
      const ended = await Promise.race([end, untilAll(seen, began)]);
      const seconds = (performance.now() - began) / 1000;
      updates.stop();
      for (const since = performance.now(); updates.unanswered() > 0 && performance.now() - since < 30_000; )
        await sleep(100);
      const beside = percentile(updates.latencies(), 0.95);
      const answered = fleetIds.filter((device) => seen.acknowledged.has(device)).length;
      say(`${answered} of ${fleetSize} answered after ${seconds.toFixed(0)} s, ${seen.notifications()} notifications`);
      say(`p95 beside the fleet: ${beside.toFixed(0)} ms, ${(beside / alone).toFixed(1)} times that without`);
      return [...endOf(ended, service, limit.words, say), ...wrongAnswers(seen), ...tooLate(alone, beside, updates)];
    });
  },
};

const fleetIds = named('fleet', fleetSize);
const goodIds = named('good', goodDevices);

const syncModel = (device: string) => ({
  properties: { 'svc-messagetype': 'platformEvent', eventType: 'Svc.Device.SyncModel', id: device, ack: 'all' },
  body: { objectId: objectOf(device), model: 'svc.device', hierarchical: true, contained: false, related: [] },
});

type Seen = ReturnType<typeof listen>;

/** What the devices get: all of them fetch it at once. */
function listen(hub: Hub) {
  const notified = new Map<string, Set<string>>();
  /** In words: each acknowledgement, and how many notifications were there before it. */
  const acknowledged = new Map<string, string>();
  for (const device of fleetIds) {
    const objects = new Set<string>();
    notified.set(device, objects);
    hub.devicebound.listen(device, ({ message: { properties, body }, complete }) => {
      complete();
      if (properties['svc-messagetype'] === 'platformEvent') {
        objects.add(properties['objectId'] ?? '');
        return;
      }
      const { code } = JSON.parse(body.toString());
      const again = acknowledged.has(device) ? ', not the first time' : '';
      acknowledged.set(device, `${code} after ${objects.size}${again}`);
    });
  }
  return {
    acknowledged,
    notifications: () => [...notified.values()].reduce((sum, { size }) => sum + size, 0),
  };
}

/** Until every device has its acknowledgement, or nothing comes any more. */
async function untilAll({ acknowledged, notifications }: Seen, began: number): Promise<undefined> {
  for (let [seen, seenAt] = [-1, began]; acknowledged.size < fleetSize; ) {
    await sleep(100);
    const now = performance.now();
    const come = notifications() + acknowledged.size;
    if (come > seen) [seen, seenAt] = [come, now];
    if (now - seenAt > 60_000 || now - began > patienceMs) return;
  }
}

function endOf(
  ended: string | undefined,
  { pid }: ServiceProcess,
  words: string,
  say: ScenarioOptions['say'],
): string[] {
  if (ended !== undefined) return [`the process has ended: ${ended}`];
  const most = residentOf(pid, 'VmHWM');
  say(`most memory: ${most.toFixed(0)} MB, limited ${words}`);
  return most * 2 ** 20 > memoryLimit ? [`the process took ${most.toFixed(0)} MB`] : [];
}

/** 8 MiB of models are more than a device asks for here. */
function wrongAnswers({ acknowledged }: Seen): string[] {
  const counts = new Map<string, number>();
  for (const device of fleetIds) {
    const answer = acknowledged.get(device) ?? 'no answer';
    counts.set(answer, (counts.get(answer) ?? 0) + 1);
  }
  counts.delete(`ok after ${children + 1}`);
  return Array.from(counts, ([answer, count]) => `${count} devices: ${answer}`);
}

function tooLate(alone: number, beside: number, { unanswered }: Updates): string[] {
  const most = mostBeside(alone);
  return [
    ...(beside <= most ? [] : [`updates took ${beside.toFixed(0)} ms (p95), more than ${most.toFixed(0)} ms`]),
    ...(unanswered() === 0 ? [] : [`${unanswered()} updates were not answered`]),
  ];
}
