import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createBudget } from '../../src/engine/budget/budget.ts';
import type { Requirement } from '../../src/engine/order/queued.ts';
import { createPartition } from '../../src/engine/partition/partition.ts';
import type { HubEvent } from '../../src/protocol/event.ts';
import { hubEvent } from '../support/events.ts';
import { memorySpool } from './support/memorySpool.ts';
import { usual } from './support/partitions.ts';

// Random devices, needs, outages and ends of work, against a simple model of who should be in work.

const devices = ['a', 'b', 'c', 'd', 'e'];
const backends = ['none', 'model', 'types'] as const;
type BackendName = (typeof backends)[number];
const [maxMessages, deviceMessages, spoolMessages] = [3, 2, 4];
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
/** For hundreds of sequences, on a busy machine. */
const timeout = 60_000;

/** There or not, as the test says. */
function createBackend(): Requirement & { set(isThere: boolean): void; isMet(): boolean } {
  let isThere = true;
  let waiting: ((isMet: boolean) => void)[] = [];
  return {
    isMet: () => isThere,
    met: (pointless) =>
      new Promise((resolve) => {
        if (isThere) resolve(true);
        else waiting.push(resolve);
        pointless.addEventListener('abort', () => resolve(false));
      }),
    set(now) {
      isThere = now;
      if (!isThere) return;
      const told = waiting;
      waiting = [];
      for (const tell of told) tell(true);
    },
  };
}

interface Sent {
  readonly device: string;
  readonly needs: BackendName;
}

function setUp(overall = createBudget({ maxMessages: 100, maxBytes: 1e6 })) {
  const needed = { none: createBackend(), model: createBackend(), types: createBackend() };
  const spool = memorySpool(spoolMessages);
  const budget = createBudget({ maxMessages, maxBytes: 1e6 }, overall);
  const sent: Sent[] = [];
  const started: number[] = [];
  const running = new Map<number, () => void>();
  const sentBy = (event: HubEvent) => sent[event.sequenceNumber] as Sent;
  let admitted = 0;
  const partition = createPartition({
    ...usual,
    budget,
    spool,
    costOf: () => 1,
    arrivalOf: (event) => ({ event, deviceId: sentBy(event).device }),
    requirementOf: ({ event }) => needed[sentBy(event).needs],
    dispatch({ event: { sequenceNumber } }) {
      started.push(sequenceNumber);
      return new Promise((resolve) => running.set(sequenceNumber, () => resolve(true)));
    },
    limits: { everyMessages: 1e9, everyMs: 1e9, deviceMessages },
  });

  return {
    partition,
    budget,
    sent,
    started,
    needed,
    running,
    send(one: Sent) {
      sent.push(one);
      void partition.admit([hubEvent({ sequenceNumber: sent.length - 1 })]).then(() => (admitted += 1));
    },
    end(nth: number) {
      const [sequenceNumber, resolve] = [...running][nth % Math.max(1, running.size)] ?? [];
      if (sequenceNumber === undefined) return;
      running.delete(sequenceNumber);
      resolve?.();
    },
    /** What a glance from outside must find, whenever nothing moves. */
    check() {
      expect(running.size).toBeLessThanOrEqual(maxMessages);
      expect(budget.inFlight().messages).toBe(running.size);
      expect(new Set(started).size).toBe(started.length);
      for (const device of devices) {
        const own = started.filter((one) => sent[one]?.device === device);
        expect(own).toEqual(own.toSorted((one, other) => one - other));
        expect([...running.keys()].filter((one) => sent[one]?.device === device).length).toBeLessThanOrEqual(1);
      }
      if (running.size === maxMessages) return;
      const heads = devices.map((device) =>
        sent.findIndex((one, index) => one.device === device && (!started.includes(index) || running.has(index))),
      );
      const couldRun = heads.filter(
        (head) => head >= 0 && !running.has(head) && needed[sent[head]?.needs ?? 'none'].isMet(),
      );
      // Intake may be stopped: not while there is room for what waits.
      const couldRunHere = spool.isFull() ? couldRun.filter((head) => head <= admitted) : couldRun;
      expect(couldRunHere).toEqual([]);
      if (!spool.isFull()) expect(admitted).toBe(sent.length);
    },
  };
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ send: fc.constantFrom(...devices), needs: fc.constantFrom(...backends) }) },
  { weight: 4, arbitrary: fc.record({ end: fc.nat(10) }) },
  { weight: 2, arbitrary: fc.record({ backend: fc.constantFrom('model', 'types'), isThere: fc.boolean() }) },
);
type Step = { send: string; needs: BackendName } | { end: number } | { backend: 'model' | 'types'; isThere: boolean };

type Course = ReturnType<typeof setUp>;

function take(course: Course, one: Step) {
  if ('send' in one) course.send({ device: one.send, needs: one.needs });
  else if ('end' in one) course.end(one.end);
  else course.needed[one.backend].set(one.isThere);
}

it(
  'no runnable message waits behind a blocked one, and all run once, in the order of their device (500 random sequences)',
  {
    timeout,
  },
  async () =>
    fc.assert(
      fc.asyncProperty(fc.array(step as fc.Arbitrary<Step>, { maxLength: 60 }), async (steps) => {
        const course = setUp();
        for (const one of steps) {
          take(course, one);
          await settle();
          course.check();
        }
        for (const backend of Object.values(course.needed)) backend.set(true);
        for (let rounds = 0; rounds < steps.length; rounds += 1) {
          await settle();
          course.end(0);
        }
        await settle();
        expect(course.started.length).toBe(course.sent.length);
        expect([course.budget.inFlight(), course.budget.waiting.taken()]).toEqual([none, none]);
        expect(await course.partition.drain(0)).toBe(0);
      }),
      { numRuns: 500 },
    ),
);

it(
  'when a partition closes, no waiting message begins, and none stays charged (300 random sequences)',
  {
    timeout,
  },
  async () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(step as fc.Arbitrary<Step>, { maxLength: 40 }),
        fc.nat(40),
        async (steps, closesAfter) => {
          const overall = createBudget({ maxMessages: 2, maxBytes: 1e6 });
          const course = setUp(overall);
          for (const one of steps.slice(0, closesAfter)) {
            take(course, one);
            if (steps.length % 2 === 0) await settle();
          }
          course.partition.revoke();
          const { length } = course.started;
          for (const one of steps.slice(closesAfter)) take(course, one);
          for (const backend of Object.values(course.needed)) backend.set(true);
          await settle();
          expect(course.started.length).toBe(length);
          expect(overall.inFlight().messages).toBe(course.running.size);
          while (course.running.size > 0) course.end(0);
          await settle();
          expect([overall.inFlight(), overall.waiting.taken(), overall.answering.taken()]).toEqual([none, none, none]);
        },
      ),
      { numRuns: 300 },
    ),
);

const none = { messages: 0, bytes: 0 };
