import { expect, it } from 'vitest';
import { createBudget } from '../../src/engine/budget.ts';
import { createLanes, type Dependencies, type Queued } from '../../src/engine/lanes.ts';
import { signal } from '../support/waiting.ts';
import { backlogOf } from './support/partitions.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const nothing: Dependencies = { areAvailable: () => true, met: async () => true };

type Suspecting = NonNullable<Parameters<typeof createLanes>[0]['quarantine']>;

const unsuspecting = { isSuspect: () => false, turnOf: async () => true, putBack() {} };

interface Given extends Queued {
  readonly name: string;
}

interface Options {
  maxMessages?: number;
  maxBytes?: number;
  /** For messages that wait; half of it is for those here. */
  room?: number;
  quarantine?: Suspecting;
}

/** A message whose name has a capital letter is large. */
const largeBytes = 20_000;

function setUp({ maxMessages = 10, maxBytes = 1_000, room = 1e6, quarantine }: Options = {}) {
  const log: string[] = [];
  const ends = new Map<string, () => void>();
  const budget = createBudget({ maxMessages, maxBytes });
  const shared = backlogOf(room);
  const backlog = shared.ofPartition(() => {});
  const draining = new AbortController();
  const lanes = createLanes<Given>({
    ...{ budget, backlog, draining: draining.signal, quarantine },
    async work({ name, cost }) {
      log.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      budget.of(cost).give(cost);
    },
  });
  let sequenceNumber = 0;
  const message = (name: string, dependencies: Dependencies): Given => {
    sequenceNumber += 1;
    return { name, sequenceNumber, cost: /[A-Z]/.test(name) ? largeBytes : 1, waitingBytes: 7, dependencies };
  };
  return {
    ...{ lanes, log, budget, shared, draining },
    add: (name: string, dependencies = nothing) => lanes.add(name[0] as string, message(name, dependencies)),
    async end(name: string) {
      ends.get(name)?.();
      await settle();
    },
  };
}

function backend() {
  let isThere = true;
  let waiting: (() => void)[] = [];
  return {
    areAvailable: () => isThere,
    met: (pointless: AbortSignal) =>
      new Promise<boolean>((resolve) => {
        pointless.addEventListener('abort', () => resolve(false));
        if (isThere) resolve(true);
        else waiting.push(() => resolve(true));
      }),
    goes() {
      isThere = false;
    },
    async comesBack() {
      isThere = true;
      for (const tell of waiting.splice(0)) tell();
      waiting = [];
      await settle();
    },
  };
}

it('a large message that waits for its bytes delays small ones of its own device only', async () => {
  const { log, add, end } = setUp({ maxBytes: 2 * largeBytes });
  for (const name of ['aL1', 'bL1', 'b2', 'c1', 'd1', 'dL2', 'd3']) add(name);
  expect(log).toEqual(['aL1', 'c1', 'd1']);
  await end('d1');
  await end('c1');
  expect(log).toEqual(['aL1', 'c1', 'd1']);
  await end('aL1');
  expect(log).toEqual(['aL1', 'c1', 'd1', 'bL1']);
  await end('bL1');
  expect(log.slice(4).toSorted()).toEqual(['b2', 'dL2']);
  await end('dL2');
  expect(log.at(-1)).toBe('d3');
});

it('messages that wait for a backend, or behind one that does, have no more than its room, also while others wait for a slot', async () => {
  const { lanes, shared, add } = setUp({ maxMessages: 1, room: 12 });
  const model = { ...backend(), needs: ['informationModel'] };
  const other = shared.ofPartition(() => {});
  for (let waiting = 0; waiting < 3; waiting += 1) other.enter(7, model.needs);
  const hasRoom = () => [lanes.hasRoom('x', 7, model), lanes.hasRoom('c', 7, nothing), lanes.hasRoom('x', 7, nothing)];
  for (const name of ['a1', 'b1']) add(name);
  model.goes();
  for (const name of ['c1', 'd1']) add(name, model);
  expect(hasRoom()).toEqual([true, true, true]);
  add('c2');
  expect(hasRoom()).toEqual([false, false, true]); // six of twelve wait for it
  await model.comesBack();
  expect(hasRoom()).toEqual([true, true, true]);
});

it('when the backend is back, the message that arrived first begins first, even if it began to wait later', async () => {
  const { log, add, end } = setUp({ maxMessages: 1 });
  const model = backend();
  model.goes();
  add('a1');
  add('a2', model);
  add('b3', model);
  await end('a1');
  await model.comesBack();
  expect(log).toEqual(['a1', 'a2']);
});

it('a message that gets its slot at the moment of closing does not begin, and releases the slot', async () => {
  const { budget, log, draining, add } = setUp({ maxMessages: 1 });
  void budget.all.take(1);
  add('a1');
  budget.all.give(1);
  draining.abort();
  await settle();
  expect([log, budget.inFlight().messages]).toEqual([[], 0]);
});

it('a message whose backend goes while it waits for a slot releases the slot', async () => {
  const { budget, log, add, end } = setUp({ maxMessages: 1 });
  const model = backend();
  add('a1');
  add('b1', model);
  add('c1');
  model.goes();
  await end('a1');
  expect([log, budget.inFlight().messages]).toEqual([['a1', 'c1'], 1]);
  await end('c1');
  expect(budget.inFlight().messages).toBe(0);
  await model.comesBack();
  expect(log).toEqual(['a1', 'c1', 'b1']);
});

it('a suspect whose backend goes before it begins waits for another turn', async () => {
  const own = backend();
  const turns: (() => void)[] = [];
  const seen: string[] = [];
  const { add, log } = setUp({
    quarantine: {
      isSuspect: () => turns.length < 2,
      turnOf: (deviceId, sequenceNumber) => {
        seen.push(`${deviceId}${sequenceNumber} waits`);
        return new Promise((resolve) => turns.push(() => resolve(true)));
      },
      putBack: (deviceId, sequenceNumber) => void seen.push(`${deviceId}${sequenceNumber} is put back`),
      ended: () => undefined,
    },
  });
  add('a1', own);
  own.goes();
  turns[0]?.();
  await settle();
  expect([seen, log]).toEqual([['a1 waits', 'a1 is put back'], []]);
  await own.comesBack();
  expect(seen.at(-1)).toBe('a1 waits');
  turns[1]?.();
  await settle();
  expect(log).toEqual(['a1']);
});

it('a message that comes while a checkpoint takes the last one of its device begins after that', async () => {
  const { given: noted, give: isNoted } = signal();
  const { lanes, add, log, end } = setUp({ quarantine: { ...unsuspecting, ended: () => noted } });
  add('a1');
  await end('a1');
  add('a2');
  add('b1');
  await end('b1');
  expect([log, lanes.length('a')]).toEqual([['a1', 'b1'], 2]);
  isNoted();
  await settle();
  expect([log, lanes.length('a')]).toEqual([['a1', 'b1', 'a2'], 1]);
});

it('messages begin when another partition gives its slot back and the one that waited for it cannot begin', async () => {
  const { budget, log, add } = setUp({ maxMessages: 1 });
  const model = backend();
  void budget.all.take(1);
  add('a1', model);
  add('b1');
  model.goes();
  budget.all.give(1);
  await settle();
  expect(log).toEqual(['b1']);
  await model.comesBack();
  expect(log).toEqual(['b1']);
});
