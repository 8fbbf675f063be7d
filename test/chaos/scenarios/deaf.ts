import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Hub } from 'iot-hub-emulator';
import { freePort } from '../../../sandbox/service/freePort.ts';
import { type ServiceProcess, startService } from '../../../sandbox/service/process.ts';
import { percentile } from '../../bench/figures.ts';
import { createLogReader } from '../logLines.ts';
import { closingAll, environmentOf, mostBeside, named, type Scenario } from './scenario.ts';
import { createUpdates, startHubAndModel, type Updates } from './updates.ts';

const deafIds = named('deaf', 3_000);
const goodIds = named('good', 20);
/** What the hub keeps for a device (fact c2d.pending). */
const fullQueue = 50;
const measuredMs = 15_000;
/** Between two messages of a device that does not fetch. */
const deafEveryMs = 60_000;
const beginMs = 10_000;
const patienceMs = 180_000;
const drainSeconds = 25;

export const deaf: Scenario = {
  name: 'deaf',
  about: `${deafIds.length} devices with full queues, beside ${goodIds.length} that fetch their replies, also right after a restart`,
  async run({ directory, serviceDirectory, seed, say }) {
    return closingAll(async (closers) => {
      const { hub, backend } = await startHubAndModel(closers, directory, [...deafIds, ...goodIds], 0, 0, seed);
      const url = `http://127.0.0.1:${await freePort()}`;
      const logFile = join(directory, 'service.log');
      let service: ServiceProcess | undefined;
      closers.push(() => service?.kill());
      const start = async () => {
        service = await startService({
          directory: serviceDirectory,
          environment: {
            ...environmentOf(hub, backend, url, directory),
            DELIVERY_DRAIN_SECONDS: String(drainSeconds),
          },
          ...{ readyzUrl: `${url}/readyz`, logFile, readyWithinMs: patienceMs },
        });
      };
      const findings: string[] = [];
      const good = createUpdates(hub, goodIds);
      const others = createUpdates(hub, deafIds);
      closers.push(good.stop, others.stop);
      good.fetch();

      /** The 95th percentile of what the good devices send from now on, in ms. */
      async function measure(what: string): Promise<number> {
        good.begin();
        await sleep(measuredMs);
        const latencies = good.latencies();
        const p95 = percentile(latencies, 0.95);
        say(`p95 of ${latencies.length} updates of ${goodIds.length} devices ${what}: ${p95.toFixed(0)} ms`);
        return p95;
      }

      async function compare(what: string, times = 1) {
        const p95 = await measure(what);
        const most = times * mostBeside(alone);
        if (!(p95 <= most)) findings.push(`${what}: ${p95.toFixed(0)} ms (p95), more than ${most.toFixed(0)} ms`);
      }

      await start();
      good.send({ everyMs: 1_000, beginMs: 1_000, seed });
      const alone = await measure('without the others');
      fillQueues(hub);
      others.send({ everyMs: deafEveryMs, beginMs, seed });
      const sleeping = await mostAsleep(url);
      say(`${sleeping.replies} replies wait for full queues, in ${sleeping.bytes} bytes`);
      if (sleeping.replies < 0.9 * deafIds.length) findings.push(`only ${sleeping.replies} replies wait`);
      await compare('beside full queues');

      const stopped = performance.now();
      await service?.stop(60_000);
      const seconds = (performance.now() - stopped) / 1000;
      say(`a stop took ${seconds.toFixed(1)} s`);
      if (seconds > drainSeconds) findings.push('the stop has waited for replies to full queues');
      await start();
      await compare('right after a restart');
      await service?.kill();
      await start();
      await compare('right after a kill', 3); // a new program has everything that waited before it, and all that no checkpoint contains

      good.stop();
      others.stop();
      others.fetch();
      const left = await unhandled([good, others], createLogReader(logFile));
      if (left > 0) findings.push(`${left} messages were not handled`);
      const taken = others.answered();
      say(`${taken} of ${others.sent.size} replies were taken when there was room`);
      if (taken <= 0) findings.push('no reply was taken when there was room');
      for (const [who, { inverted }] of Object.entries({ good, others }))
        if (inverted() > 0) findings.push(`${who}: ${inverted()} replies came after later ones of their device`);
      return findings;
    });
  },
};

/** As many messages of somebody else as the hub keeps. */
function fillQueues(hub: Hub): void {
  const message = { system: {}, properties: {}, body: Buffer.from('{}') };
  for (const device of deafIds) {
    for (let count = 0; count < fullQueue; count += 1) hub.devicebound.enqueue(device, message, 'service');
  }
}

interface Asleep {
  readonly replies: number;
  /** That their messages are charged for. */
  readonly bytes: number;
}

/** Waits until nearly all replies of these devices wait for full queues, or no more of them do. */
async function mostAsleep(url: string): Promise<Asleep> {
  let asleep: Asleep = { replies: 0, bytes: 0 };
  for (let since = performance.now(); asleep.replies < 0.99 * deafIds.length; ) {
    await sleep(500);
    const now = await asleepIn(url);
    if (now.replies > asleep.replies) since = performance.now();
    asleep = now;
    if (performance.now() - since > 20_000) break;
  }
  return asleep;
}

async function asleepIn(url: string): Promise<Asleep> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.includes('place="full_queues"'));
  const of = (name: string) =>
    Number(
      lines
        .find((line) => line.startsWith(`${name}{`))
        ?.split(' ')
        .at(-1) ?? 0,
    );
  return { replies: of('device_messaging_replies_unsettled'), bytes: of('device_messaging_held_bytes') };
}

/** Waits until each message has its line, or no further one comes. Answers how many have none. */
async function unhandled(all: readonly Updates[], lines: ReturnType<typeof createLogReader>): Promise<number> {
  const left = new Set(all.flatMap(({ sent }) => [...sent.keys()]));
  for (let [before, since] = [left.size, performance.now()]; left.size > 0; ) {
    await sleep(500);
    for (const { msg, correlationId } of await lines()) if (msg === 'handled') left.delete(String(correlationId));
    if (left.size < before) [before, since] = [left.size, performance.now()];
    if (performance.now() - since > 90_000) break;
  }
  return left.size;
}
