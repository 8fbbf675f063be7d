import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { createBudget } from '../../src/engine/budget.ts';
import { decodeCompletion, isDone } from '../../src/engine/completionMap.ts';
import type { Dependencies } from '../../src/engine/lanes.ts';
import { createPartition, type Partition } from '../../src/engine/partition.ts';
import type { Checkpoint } from '../../src/engine/progressTracker.ts';
import { createTurnstile } from '../../src/engine/quarantine.ts';
import { createBacklog } from '../../src/engine/rooms.ts';
import { createLog } from '../../src/observing/log.ts';
import { type HubEvent, memoryWhileWaiting } from '../../src/protocol/event.ts';
import { bodyBytes, hubEvent } from '../support/events.ts';
import { runs } from '../support/seed.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { usual } from './support/partitions.ts';

// Two partitions with a backlog in common, and random devices, sizes, needs, outages, ends of work, of sessions and of processes
// before, against a simple model of what has to wait, and of the room that it takes.

withFakeTimers();

const backends = ['model', 'types'] as const;
type Backend = (typeof backends)[number];
const needs = [[], ['model'], ['types'], ['model', 'types']] as const;
const limits = { maxMessages: 8, maxBytes: 60_000 };
const half = { messages: 4, bytes: 30_000 };
const inFlight = 3;
const overallInFlight = 4;
const costOf = (event: HubEvent) => 7 * bodyBytes(event);
const none = { messages: 0, bytes: 0 };
const log = createLog('silent');
const turnOfTheLoop = setImmediate;
/** All that can happen without time has happened. */
const settle = () => new Promise<void>((resolve) => turnOfTheLoop(resolve));

type Sent = { readonly event: HubEvent; readonly device: string; readonly needs: readonly Backend[] };
type Sending = { readonly device: string; readonly needs: readonly Backend[]; readonly bytes: number };

type Step =
  | { readonly send: readonly Sending[]; readonly to: number }
  | { readonly end: number }
  | { readonly backend: Backend; readonly isThere: boolean }
  | { readonly close: number; readonly how: 'drain' | 'drain slowly' | 'revoke' }
  | { readonly passMs: number };

const sending = fc.record({
  device: fc.constantFrom('a', 'b', 'c', 'd'),
  needs: fc.constantFrom(...needs),
  bytes: fc.constantFrom(10, 10, 6_000, 25_000, 40_000),
});
const partitionId = fc.nat(1);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ send: fc.array(sending, { minLength: 1, maxLength: 4 }), to: partitionId }) },
  { weight: 6, arbitrary: fc.record({ end: fc.nat(10) }) },
  { weight: 2, arbitrary: fc.record({ backend: fc.constantFrom(...backends), isThere: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ close: partitionId, how: fc.constantFrom('drain', 'drain slowly', 'revoke') }),
  },
  { weight: 1, arbitrary: fc.record({ passMs: fc.constantFrom(100, 1_000, 6_000) }) },
);

/** What each set of backends requires: they are there or not, as the test says. */
function createBackends() {
  const there = new Set<Backend>(backends);
  let waiting: (() => void)[] = [];
  const requirements = new Map(
    needs.map((some): [string, Dependencies] => {
      const areAvailable = () => some.every((one) => there.has(one));
      async function met(draining: AbortSignal) {
        while (!areAvailable() && !draining.aborted) {
          await new Promise<void>((resolve) => {
            waiting.push(resolve);
            draining.addEventListener('abort', () => resolve());
          });
        }
        return !draining.aborted;
      }
      return [some.join(), { needs: some, areAvailable, met }];
    }),
  );
  return {
    areAvailable: (some: readonly Backend[]) => some.every((one) => there.has(one)),
    dependenciesOf: (some: readonly Backend[]) => requirements.get(some.join()),
    set(backend: Backend, isThere: boolean) {
      if (isThere) there.add(backend);
      else there.delete(backend);
      for (const tell of waiting.splice(0)) tell();
      waiting = [];
    },
  };
}

/** A session over a partition of the hub, and what the test sees of it. */
interface Session {
  readonly partition: Partition;
  readonly budget: ReturnType<typeof createBudget>;
  /** By the checkpoint with which it began. */
  wasDone(sequenceNumber: number): boolean;
  /** Newest event that may be a suspect; -1 when there are none. */
  readonly suspectsUpTo: number;
  readonly started: number[];
  readonly running: Map<number, (isHandled: boolean) => void>;
  readonly handled: Set<number>;
  isOpen: boolean;
}

/** @param suspects sequence number up to which messages of each partition are suspects of unclean shutdowns; -1: none */
function setUp(suspects: readonly number[]) {
  const { areAvailable, dependenciesOf, set } = createBackends();
  const backlog = createBacklog(limits);
  const overall = createBudget({ maxMessages: overallInFlight, maxBytes: 600_000 });
  const turnstile = createTurnstile();
  const hub: Sent[][] = suspects.map(() => []);
  const written: Checkpoint[] = suspects.map((upTo) => ({
    ...{ sequenceNumber: -1, offset: '-1', completed: '' },
    ...(upTo >= 0 && { note: `2 2 ${upTo} - -` }),
  }));
  const closings: Promise<void>[] = [];
  const handled = suspects.map(() => new Set<number>());
  const sessions = suspects.map((_, index) => open(index));

  function open(index: number): Session {
    const sentOf = ({ sequenceNumber }: HubEvent) => hub[index]?.[sequenceNumber] as Sent;
    const progress = written[index] as Checkpoint;
    const budget = createBudget({ maxMessages: inFlight, maxBytes: 400_000 }, overall);
    const map = decodeCompletion(progress.sequenceNumber, progress.completed);
    const session: Session = {
      budget,
      wasDone: (one) => one <= progress.sequenceNumber || (map !== undefined && isDone(map, one)),
      suspectsUpTo: progress.note === undefined ? -1 : (suspects[index] ?? -1),
      ...{ started: [], running: new Map(), handled: new Set<number>(), isOpen: true },
      partition: createPartition({
        ...usual,
        ...{ budget, backlog, progress },
        costOf,
        receivedMessageOf: (event) => ({ event, deviceId: sentOf(event).device }),
        dependenciesOf: ({ event }) => dependenciesOf(sentOf(event).needs),
        async dispatch({ event: { sequenceNumber } }, { ended }) {
          session.started.push(sequenceNumber);
          const isHandled = await new Promise<boolean>((resolve) => {
            session.running.set(sequenceNumber, resolve);
            ended.addEventListener('abort', () => resolve(false));
          });
          session.running.delete(sequenceNumber);
          if (isHandled) for (const some of [session.handled, handled[index]]) some?.add(sequenceNumber);
          return isHandled;
        },
        async checkpoint(next) {
          if (sessions[index] === session) written[index] = next;
          return true;
        },
        quarantine: { mostSuspects: 10, turnstile, log },
        limits: { everyMessages: 2, everyMs: 5_000 },
      }),
    };
    void session.partition.admit((hub[index] ?? []).map(({ event }) => event));
    return session;
  }

  function takenIn(index: number): Sent[] {
    const { partition, wasDone } = sessions[index] as Session;
    const position = partition.position()?.sequenceNumber ?? -1;
    return (hub[index] ?? []).slice(0, position + 1).filter(({ event }) => !wasDone(event.sequenceNumber));
  }

  const hasStarted = ({ started }: Session, { event }: Sent) => started.includes(event.sequenceNumber);
  const amountOf = (some: readonly Sent[]) => ({
    messages: some.length,
    bytes: some.reduce((sum, { event }) => sum + memoryWhileWaiting(event), 0),
  });
  const waitingIn = (index: number) =>
    sessions[index]?.isOpen ? takenIn(index).filter((one) => !hasStarted(sessions[index] as Session, one)) : [];
  const all = () => [...sessions.keys()];
  const waiting = () => amountOf(all().flatMap(waitingIn));

  /** Devices whose first message waits for backends, as operators see it. */
  const heldIn = (index: number) =>
    new Map(
      sessions[index]?.partition
        .devices(undefined)
        .flatMap(({ device, state, needs }) => (state === 'waits for backends' ? [[device, needs] as const] : [])),
    );
  const waitingFor = (backend: string) =>
    amountOf(
      all().flatMap((index) => {
        const held = heldIn(index);
        return waitingIn(index).filter(({ device }) => held.get(device)?.includes(backend));
      }),
    );

  function hasRoom(index: number, { event, device, needs }: Sent): boolean {
    const own = takenIn(index).filter((one) => one.device === device && !sessions[index]?.handled.has(seq(one)));
    const backendsOf = own.length > 0 ? (heldIn(index).get(device) ?? []) : areAvailable(needs) ? [] : needs;
    const fits = ({ messages, bytes }: typeof none, most: typeof none) =>
      messages === 0 || (messages < most.messages && bytes + memoryWhileWaiting(event) <= most.bytes);
    return (
      fits(waiting(), { messages: limits.maxMessages, bytes: limits.maxBytes }) &&
      fits(amountOf(waitingIn(index)), half) &&
      backendsOf.every((one) => fits(waitingFor(one), half))
    );
  }

  /** What is not as it has to be whenever nothing moves. */
  function* faultsOf(index: number, session: Session): Generator<string> {
    const { partition, budget, started, running, suspectsUpTo, handled } = session;
    const sent = hub[index] ?? [];
    const deviceOf = (one: number) => sent[one]?.device;
    const begunLast = new Map<string | undefined, number>();
    for (const one of started) {
      if (one <= (begunLast.get(deviceOf(one)) ?? -1)) yield `${one} begins out of order, or twice`;
      begunLast.set(deviceOf(one), one);
    }
    if (new Set([...running.keys()].map(deviceOf)).size < running.size) yield 'two messages of a device are in work';
    if (!session.isOpen) return;
    if (budget.inFlight().messages > inFlight) yield 'too many are in flight';
    const own = amountOf(waitingIn(index));
    if (own.messages > half.messages || (own.messages > 1 && own.bytes > half.bytes)) yield 'too many wait';

    const isUnfinished = (one: Sent) => !handled.has(seq(one));
    const unfinished = takenIn(index).filter(isUnfinished);
    const heads = new Map(unfinished.toReversed().map((one) => [one.device, one]));
    const isFirst = ({ device }: Sent) => !begunLast.has(device);
    const canBegin = (one: Sent) => areAvailable(one.needs) && !(seq(one) <= suspectsUpTo && isFirst(one));
    const canTake = ({ event }: Sent) => budget.of(costOf(event)).hasRoom(costOf(event));
    for (const one of heads.values()) {
      if (!hasStarted(session, one) && canBegin(one) && canTake(one)) yield `${seq(one)} could be in work`;
    }
    const next = sent[(partition.position()?.sequenceNumber ?? -1) + 1];
    if (next === undefined || !canTake(next)) return;
    if (canBegin(next) && !heads.has(next.device)) yield `${seq(next)} could be in work, and waits in the hub`;
    if (hasRoom(index, next)) yield `${seq(next)} waits in the hub, and there is room`;
  }

  async function close(index: number, how: 'drain' | 'drain slowly' | 'revoke') {
    const session = sessions[index] as Session;
    if (!session.isOpen) return;
    const taken = takenIn(index).length;
    session.isOpen = false;
    if (how === 'revoke') session.partition.revoke();
    else {
      expect(await session.partition.drain(how === 'drain' ? 0 : 1e6)).toBe(taken - session.handled.size);
    }
    sessions[index] = open(index);
    if (how !== 'revoke') for (const one of session.handled) expect(sessions[index]?.wasDone(one)).toBe(true);
  }

  return {
    backlog,
    overall,
    set,
    waitingFor,
    send(index: number, some: readonly Sending[]) {
      const sent = hub[index] ?? [];
      const events = some.map(({ device, needs, bytes }) => {
        const event = hubEvent({ sequenceNumber: sent.length, body: Buffer.alloc(bytes) });
        sent.push({ event, device, needs });
        return event;
      });
      if (sessions[index]?.isOpen) void sessions[index]?.partition.admit(events);
    },
    end(nth: number) {
      const running = sessions.flatMap((one) => [...one.running.values()]);
      running[nth % Math.max(1, running.length)]?.(true);
      return running.length > 0;
    },
    /** Ends the session; the next one goes on from its checkpoint. */
    close(index: number, how: 'drain' | 'drain slowly' | 'revoke') {
      const closing = close(index, how);
      closing.catch(() => {}); // it is awaited at the end
      closings.push(closing);
    },
    faults(): string[] {
      const taken = backlog.taken();
      const [{ messages, bytes }, expected] = [taken, waiting()];
      return [
        ...[...sessions.entries()].flatMap(([index, session]) => [...faultsOf(index, session)]),
        ...(messages === expected.messages && bytes === expected.bytes ? [] : ['what waits is not what is charged']),
        ...(overall.inFlight().messages > overallInFlight ? ['too many are in flight in all'] : []),
        ...(messages > limits.maxMessages || (messages > 1 && bytes > limits.maxBytes) ? ['too many wait in all'] : []),
      ];
    },
    isDone: () =>
      sessions.every(
        ({ isOpen, running, partition }, index) =>
          isOpen && running.size === 0 && partition.pending() === 0 && handled[index]?.size === hub[index]?.length,
      ),
    async closeAll() {
      await Promise.all(closings);
      return Promise.all(sessions.map(({ partition }) => partition.drain(0)));
    },
  };
}

const seq = ({ event }: Sent) => event.sequenceNumber;

type World = ReturnType<typeof setUp>;

async function take(world: World, one: Step) {
  if ('send' in one) {
    const before = backends.map(world.waitingFor);
    world.send(one.to, one.send);
    await settle();
    for (const [index, backend] of backends.entries()) {
      const { messages, bytes } = world.waitingFor(backend);
      expect(messages).toBeLessThanOrEqual(Math.max(half.messages, before[index]?.messages ?? 0));
      if (messages > 1) expect(bytes).toBeLessThanOrEqual(Math.max(half.bytes, before[index]?.bytes ?? 0));
    }
  } else if ('end' in one) world.end(one.end);
  else if ('backend' in one) world.set(one.backend, one.isThere);
  else if ('close' in one) world.close(one.close, one.how);
  else await vi.advanceTimersByTimeAsync(one.passMs);
  await settle();
}

it(
  'what waits has the room of the model, begins in the order of its device as soon as it can, and none is lost or done twice',
  { timeout: 600_000 },
  () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }),
        fc.tuple(fc.integer({ min: -1, max: 6 }), fc.constant(-1)),
        async (steps, suspects) => {
          const world = setUp(suspects);
          for (const one of steps) {
            await take(world, one);
            expect(world.faults()).toEqual([]);
          }
          for (const backend of backends) world.set(backend, true);
          for (let rounds = 0; rounds < 400 && !world.isDone(); rounds += 1) {
            if (!world.end(0)) await vi.advanceTimersByTimeAsync(1_000);
            await settle();
            expect(world.faults()).toEqual([]);
          }
          expect([world.isDone(), world.backlog.taken(), world.overall.inFlight()]).toEqual([true, none, none]);
          expect(await world.closeAll()).toEqual([0, 0]);
        },
      ),
      { numRuns: runs(200) },
    ),
);
