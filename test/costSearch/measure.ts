import { createLog } from '../../src/observing/log.ts';
import { classify, type HubEvent } from '../../src/protocol/event.ts';
import { fits } from '../../src/protocol/reply.ts';
import { forever, wire } from '../support/wiring.ts';
import { fillingOf, type Recipe, receivedBytes } from './recipe.ts';
import { countSteps } from './search.ts';
import { answersOf } from './stored.ts';

/**
 * The unit of what messages cost (D170): the least that an update can cost, which takes as long as `JSON.parse` of 16 KiB of
 * measured values. It changes with the machine, but not with the service.
 */

const bytesOfLeastUpdate = 16_384;

const measured = Array.from({ length: 370 }, (_, index) => `"value${index % 90}":{"value":21.75,"unit":"°C"}`);
const ordinary = `{"type":"pump","version":1,"properties":{"serial":"FP-1",${measured.join()}}}`;
const bytesOfOrdinary = Buffer.byteLength(ordinary);

/** The least update of so many bytes, in bytes that `JSON.parse` reads. */
const leastUpdate = (bytes: number): number => bytesOfLeastUpdate + bytes;

/** What `JSON.parse` takes for one byte now, in microseconds. */
function microsecondsPerByte(microseconds: number): number {
  const began = process.cpuUsage();
  for (let times = 1; ; times += 1) {
    JSON.parse(ordinary);
    const spent = spentSince(began);
    if (spent >= microseconds) return spent / times / bytesOfOrdinary;
  }
}

/** Of processor time of this process, in microseconds. */
function spentSince(began: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(began);
  return user + system;
}

/**
 * What messages cost in processor time, with backends and a hub that answer at once, as a share of what they may cost: 25 times
 * the least update of as many bytes (D170), and for each call one least update of the bytes that are sent with it (two when it is refused),
 * and three times what `JSON.parse` takes for the bytes of its answer (D186).
 */
interface Costs {
  /** Handles the message once; says in words which steps are too many. */
  excessOf(recipe: Recipe, event: HubEvent): Promise<readonly string[]>;
  /** Above 1, it costs more than it may. */
  shareOf(recipe: Recipe, event: HubEvent, patience: Patience): Promise<number>;
  close(): Promise<void>;
}

/** How sure a measurement is to be. */
interface Patience {
  readonly rounds: number;
  readonly microseconds: number;
}

export const quick: Patience = { rounds: 3, microseconds: 2_000 };
export const sure: Patience = { rounds: 15, microseconds: 15_000 };

/** In least updates. */
const mostForMessage = 25;
/** In least updates of the bytes that were sent: their values are taken out of the words of a refusal. */
const mostForRefusal = 2;
/** In times that `JSON.parse` takes. */
const mostForAnswer = 3;

export function createCosts(): Costs {
  let answer: ReturnType<typeof answersOf> = () => [404, Buffer.alloc(0)];
  let exchanges: Exchange[] = [];
  const { backends, dispatch } = wire({
    async adapter(config) {
      const [status, data] = answer(config);
      exchanges.push({ sent: Buffer.byteLength(config.data ?? ''), answered: data.length, isRefusal: status >= 400 });
      return { data, status, statusText: '', headers: {}, config };
    },
    log: createLog('info', { write: () => {} }), // what a line costs counts, too
    send: async (reply) => (fits(reply) ? 'delivered' : { dropped: 'too_large' }),
    deadLetters: { park: async () => {}, remove: async () => {} },
  });
  let messages = 0;
  async function once(event: HubEvent): Promise<void> {
    const generation = classify(event);
    if (generation === undefined) return;
    const origin = { hub: 'hub', partition: '0' };
    messages += 1;
    const deviceId = `device-${messages}`; // what one device is answered is not remembered for another
    exchanges = [];
    await dispatch({ event, generation, deviceId, origin, redelivered: false }, forever);
  }

  /** Of the message alone, in microseconds. */
  async function costOf(event: HubEvent, microseconds: number): Promise<number> {
    const began = process.cpuUsage();
    for (let times = 1; ; times += 1) {
      await once(event);
      const spent = spentSince(began);
      if (spent >= microseconds) return spent / times;
    }
  }

  return {
    async excessOf(recipe, event) {
      answer = answersOf(recipe);
      const excess = countSteps();
      await once(event);
      const answers = exchanges.reduce((sum, { answered }) => sum + answered, 0);
      return excess({ body: Buffer.byteLength(fillingOf(recipe)) + 200, answers });
    },

    /** The middle of some rounds, in each of which message and unit take turns: both find the machine equally busy. */
    async shareOf(recipe, event, { rounds, microseconds }) {
      answer = answersOf(recipe);
      await once(event);
      const allowed = exchanges.reduce(
        (bytes, { sent, answered, isRefusal }) =>
          bytes + leastUpdate(sent) * (isRefusal ? mostForRefusal : 1) + mostForAnswer * answered,
        mostForMessage * leastUpdate(receivedBytes(event)),
      );
      const shares: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const perByte = microsecondsPerByte(microseconds / 2);
        shares.push((await costOf(event, microseconds)) / (perByte * allowed));
      }
      return shares.sort((a, b) => a - b)[rounds >> 1] ?? 0;
    },
    close: () => backends.close(),
  };
}

/** Bytes of one call. */
interface Exchange {
  readonly sent: number;
  readonly answered: number;
  readonly isRefusal: boolean;
}
