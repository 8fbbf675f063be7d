import type { Circuit } from './circuit.ts';
import type { Deadline } from './deadline.ts';

/** Limits the attempts at a backend to its connections, and holds them while its circuit is open (B5, D21). */
export function createBulkhead(circuit: Pick<Circuit, 'state' | 'untilClosed'>, connections: number) {
  const all = createSemaphore(connections);
  // Seven of eight, at least one.
  const ofCallers = createSemaphore(Math.max(1, connections - Math.ceil(connections / 8)));
  const freeAt = (backend: string) => `a free connection to ${backend}`;

  async function waitToEnter(deadline: Deadline, waitingFor: () => string, onOutage: () => void): Promise<void> {
    for (;;) {
      const out = circuit.untilClosed();
      if (out !== undefined) {
        onOutage();
        await deadline.race(out, waitingFor());
      } else if (all.tryAcquire()) return;
      else {
        await all.acquire(deadline, freeAt(waitingFor()));
        if (circuit.state() === 'closed') return;
        all.release();
      }
    }
  }

  return {
    /** Undefined when the caller may start at once. To be followed by `leave`. @throws Rejection timeout_exceeded, Cancelled */
    enter: (deadline: Deadline, waitingFor: () => string, onOutage: () => void) =>
      circuit.state() === 'closed' && all.tryAcquire() ? undefined : waitToEnter(deadline, waitingFor, onOutage),
    leave: all.release,
    /**
     * The same with the token of a caller. Such attempts leave some connections to our own and to probes, and an open circuit does not hold
     * them (D45). @param goesFirst before all that do not (M14)
     */
    async enterAsCaller(deadline: Deadline, waitingFor: string, goesFirst: boolean): Promise<void> {
      if (!ofCallers.tryAcquire()) await ofCallers.acquire(deadline, freeAt(waitingFor), goesFirst);
      try {
        if (!all.tryAcquire()) await all.acquire(deadline, freeAt(waitingFor));
      } catch (error) {
        ofCallers.release();
        throw error;
      }
    },
    leaveAsCaller(): void {
      all.release();
      ofCallers.release();
    },
    connections: () => ({ inUse: all.inUse(), waiting: all.waiting() + ofCallers.waiting() }),
  };
}

/** Limits how many callers hold a place at a time. The others wait, first come, first served; those who go first before the rest. */
export function createSemaphore(count: number) {
  let free = count;
  const first = createQueue();
  const rest = createQueue();

  function release(): void {
    const next = first.shift() ?? rest.shift();
    if (next === undefined) free += 1;
    else next();
  }

  return {
    /** Takes a free place; false when there is none. The caller gives the place back with `release`. */
    tryAcquire(): boolean {
      if (free === 0) return false;
      free -= 1;
      return true;
    },
    /** For use after `tryAcquire` has failed: resolves when the caller holds a place. @throws Rejection timeout_exceeded, Cancelled; then it holds none */
    async acquire(deadline: Deadline, waitingFor: string, goesFirst = false): Promise<void> {
      const { waiters } = goesFirst ? first : rest;
      let enter = () => {};
      const acquired = new Promise<void>((resolve) => {
        enter = resolve;
      });
      waiters.add(enter);
      try {
        await deadline.race(acquired, waitingFor);
      } catch (error) {
        if (!waiters.delete(enter)) release(); // it got a place at the moment when its time was over
        throw error;
      }
    },
    release,
    inUse: () => count - free,
    waiting: () => first.waiters.size + rest.waiters.size,
  };
}

function createQueue() {
  const waiters = new Set<() => void>();
  // One iterator for the whole life of the set: a new one would first pass over every deleted entry.
  const inOrder = waiters.values();

  return {
    waiters,
    shift(): (() => void) | undefined {
      const next = waiters.size > 0 ? inOrder.next().value : undefined;
      if (next !== undefined) waiters.delete(next);
      return next;
    },
  };
}
