import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../../bench/figures.ts';
import { grouped } from '../../support/observed.ts';
import { checkLastLines, isNotParked } from '../counts.ts';
import { handledBy, linesOf } from '../observe.ts';
import { createRandom } from '../random.ts';
import { idOf, type Message } from '../sealed.ts';
import { type Stage, setStage } from '../stage.ts';
import { openStorage } from '../storage.ts';
import { mostBeside, named, type Scenario } from './scenario.ts';

const failing = named('failing', 50);
const good = named('good', 20);
/** Sends more failing messages than it may have dead letters. */
const greedy = 'greedy';

/** How long the store of dead letters is out; the last time, the service is stopped and started again meanwhile. */
const outages = [
  { name: '2 s', ms: 2_000 },
  { name: '60 s', ms: 60_000 },
  { name: 'across a stop', ms: undefined },
];
const quietMs = 10_000;
const patienceMs = 120_000;

/** A device has a hundredth of it: room for one letter of `greedy`. */
const maxBytes = 1_000_000;
const greedyBytes = 5_000;

export const parking: Scenario = {
  name: 'parking',
  about: `the store of dead letters is out while messages of ${failing.length} devices fail, beside ${good.length} others`,
  async run({ directory, serviceDirectory, seed, say }) {
    const random = createRandom(seed);
    const [checkpoints, letters] = [await openStorage(), await openStorage()];
    let stage: Stage | undefined;
    try {
      stage = await setStage({
        ...{ directory, hubDirectory: join(directory, 'hub'), serviceDirectory },
        ...{ instances: 1, realDevices: 0, connected: [], devices: [...failing, ...good, greedy] },
        letters: () => letters.letters('letters'),
        environment: {
          STORE: 'blob',
          STORE_CONNECTION_STRING: checkpoints.connectionString(),
          DEAD_LETTERS_CONNECTION_STRING: letters.connectionString(),
          DEAD_LETTERS_CONTAINER: 'letters',
          DEAD_LETTERS_MAX_BYTES: String(maxBytes),
        },
      });
      const updates = sendUpdates(stage);
      await sleep(quietMs);
      const alone = updates.p95();
      say(`p95 of ${good.length} devices while nothing fails: ${alone.toFixed(0)} ms`);
      const findings: string[] = [];
      for (const outage of outages) {
        updates.begin();
        const end = letters.breakDown(random);
        findings.push(...(await failWhileOut(stage, outage, end)));
        const beside = updates.p95();
        say(`out ${outage.name}: p95 of the others ${beside.toFixed(0)} ms, ${(beside / alone).toFixed(1)} times that`);
        const most = mostBeside(alone);
        // They wait as long as the service is stopped.
        if (outage.ms !== undefined && beside > most) {
          findings.push(
            `out ${outage.name}: updates of others took ${beside.toFixed(0)} ms, more than ${most.toFixed(0)} ms`,
          );
        }
      }
      findings.push(...(await beyondQuota(stage)));
      await updates.stop();
      const parked = await stage.letters();
      say(`${parked.length} dead letters, ${(await linesOf(stage)).filter(isNotParked).length} not parked`);
      const [instance] = stage.instances;
      await instance?.stop();
      const flaws = instance ? await checkLastLines(instance) : [];
      return [...findings, ...flaws.map(({ why }) => why), ...unanswered(updates.sent(), stage)];
    } finally {
      await stage?.close();
      await Promise.all([checkpoints.close(), letters.close()]);
    }
  },
};

function update(id: string, deviceId: string, key: string = id): Message {
  const said = { publicKey: key };
  const properties = { msgType: 'action', action: 'identity.update', version: '2', correlationId: id, ack: 'all' };
  const body = Buffer.from(JSON.stringify(said));
  return { id, deviceId, ack: 'all', intent: { does: 'identify' }, said, properties, body };
}

/** One that does not need the backend that fails. */
function definition(id: string, deviceId: string, version: number): Message {
  const properties = { msgType: 'action', action: 'type.create', version: '2', correlationId: id, ack: 'all' };
  const said = { typeId: `type-of-${deviceId}`, version: `1.${version}.0`, properties: {} };
  const body = Buffer.from(JSON.stringify(said));
  return { id, deviceId, ack: 'all', intent: { does: 'define', type: id }, said, properties, body };
}

/** One message of each failing device fails while the store is out, and one more of it waits behind. */
async function failWhileOut(
  stage: Stage,
  { name, ms }: (typeof outages)[number],
  endOutage: () => number,
): Promise<string[]> {
  const { backends, replies, instances } = stage;
  const ids = (what: string) => failing.map((device) => `${what} ${device}, out ${name}`);
  const [first, next] = [ids('first of'), ids('next of')];
  const faults = failing.map((deviceId) =>
    backends.faults.add({ backend: 'principalManager', deviceId, garbage: true }),
  );
  const told = (id: string) => replies.filter(({ properties }) => idOf(properties) === id);
  const each = (send: (device: string, index: number) => Message) =>
    Promise.all(failing.map((device, index) => stage.send(send(device, index))));
  const findings: string[] = [];
  const find = (isWell: boolean, what: string) => {
    if (!isWell) findings.push(`out ${name}: ${what}`);
  };

  const began = performance.now();
  await each((device, index) => update(first[index] ?? '', device));
  find(
    await until(() => first.every((id) => told(id).length > 0)),
    'not every device was told that its message failed',
  );
  await each((device, index) =>
    definition(
      next[index] ?? '',
      device,
      outages.findIndex((one) => one.name === name),
    ),
  );
  await sleep(Math.max(0, (ms ?? 5_000) - (performance.now() - began)));
  find(
    next.every((id) => told(id).length === 0),
    'a device went on before its dead letter was written',
  );
  if (ms === undefined) {
    for (const instance of instances) await instance.stop();
    find(
      instances.every(({ codes }) => codes.at(-1) === 0),
      'the stop was not clean',
    );
  }
  find(endOutage() > 0, 'nobody asked the store');
  if (ms === undefined) for (const instance of instances) await instance.start();
  const areParked = async () => {
    const letters = grouped(await stage.letters(), ({ event: { properties } }) => idOf(properties));
    return first.every((id) => letters.get(id)?.length === 1);
  };
  find(await until(areParked), 'not every message that failed has a dead letter');
  for (const { id } of faults) backends.faults.clear(id);
  find(await until(() => next.every((id) => told(id).length > 0)), 'not every device went on');
  const lettersOf = grouped(await stage.letters(), ({ deviceId }) => deviceId);
  find(
    failing.every((device) => lettersOf.get(device)?.every(({ attempts }) => attempts === 1)),
    'a message was parked twice',
  );
  find(
    first.every((id) => new Set(told(id).map(({ system }) => system.messageId)).size === 1),
    'a device was told of one failure under two message ids',
  );
  const order = (await handledBy(stage)).map(({ id }) => id);
  find(
    first.every((id, index) => order.indexOf(id) >= 0 && order.indexOf(id) < order.indexOf(next[index] ?? '')),
    'a device’s messages were handled in another order',
  );
  return findings;
}

/** A device that has as many dead letters as it may have: the next failure is told at once, and it goes on. */
async function beyondQuota(stage: Stage): Promise<string[]> {
  const fault = stage.backends.faults.add({ backend: 'principalManager', deviceId: greedy, garbage: true });
  const large = (id: string) => update(id, greedy, 'k'.repeat(greedyBytes));
  const ids = named(`${greedy} fails`, 3);
  for (const id of ids) await stage.send(large(id));
  const areHandled = async () => (await handledBy(stage)).filter(({ id }) => ids.includes(id)).length === ids.length;
  const isTold = await until(areHandled);
  stage.backends.faults.clear(fault.id);
  const lines = (await linesOf(stage)).filter(isNotParked);
  const kept = (await stage.letters()).filter(({ deviceId }) => deviceId === greedy);
  return [
    ...(isTold ? [] : ['beyond its quota, a device waits']),
    ...(kept.length === 1 ? [] : [`a device has ${kept.length} dead letters, not as many as it may have`]),
    ...(lines.length === 2 && lines.every(({ device, todo }) => device === greedy && todo !== undefined)
      ? []
      : [
          `the log tells ${lines.length} times, not twice, that a message beyond the quota of its device was not parked`,
        ]),
  ];
}

function sendUpdates(stage: Stage) {
  const sent: string[] = [];
  let from = 0;
  let nth = 0;
  const timers = good.map((device, index) =>
    setInterval(() => {
      nth += 1;
      const id = `${device}/${nth}`;
      sent.push(id);
      void stage.send(update(id, device));
    }, 1_000 + index),
  );
  return {
    begin() {
      from = sent.length;
    },
    /** From the hub's taking it to the acknowledgement, in ms, of those that have one. */
    p95(): number {
      const answered = new Map(stage.replies.map(({ properties, time }) => [idOf(properties), time]));
      const latencies = sent.slice(from).flatMap((id) => {
        const [place, at] = [stage.places.get(id)?.[0], answered.get(id)];
        return place === undefined || at === undefined ? [] : [at - place.enqueuedTime];
      });
      return percentile(
        latencies.sort((a, b) => a - b),
        0.95,
      );
    },
    sent: () => sent,
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await until(() => unanswered(sent, stage).length === 0);
    },
  };
}

function unanswered(sent: readonly string[], { replies }: Stage): string[] {
  const answered = new Set(replies.map(({ properties }) => idOf(properties)));
  const left = sent.filter((id) => !answered.has(id)).length;
  return left === 0 ? [] : [`${left} updates were not answered`];
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<boolean> {
  const by = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > by) return false;
    await sleep(500);
  }
  return true;
}
