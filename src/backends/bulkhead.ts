import type { Circuit } from './circuit.ts';
import type { Deadline } from './deadline.ts';
import { createSemaphore } from './semaphore.ts';

/** Limits the attempts at a backend to its connections, and holds them while its circuit is open (B5, D21). */
export interface Bulkhead {
  /**
   * Undefined when the caller may start at once. A caller that has entered must call `leave`.
   * @param waitingFor words for `details`
   * @param onOutage called when the circuit is open
   * @throws Rejection timeout_exceeded
   * @throws Cancelled
   */
  enter(deadline: Deadline, waitingFor: () => string, onOutage?: () => void): Promise<void> | undefined;
  leave(): void;
  connections(): Connections;
}

/** For operators. */
export interface Connections {
  readonly inUse: number;
  /** Attempts that wait for a connection. */
  readonly waiting: number;
}

export function createBulkhead(circuit: Circuit, connections: number): Bulkhead {
  const semaphore = createSemaphore(connections);

  async function waitToEnter(deadline: Deadline, waitingFor: () => string, onOutage?: () => void) {
    for (;;) {
      const out = circuit.untilClosed();
      if (out !== undefined) {
        onOutage?.();
        await deadline.race(out, waitingFor());
      } else if (semaphore.tryAcquire()) return;
      else {
        await semaphore.acquire(deadline, `a free connection to ${waitingFor()}`);
        if (circuit.state() === 'closed') return;
        semaphore.release();
      }
    }
  }

  return {
    enter: (deadline, waitingFor, onOutage) =>
      circuit.state() === 'closed' && semaphore.tryAcquire() ? undefined : waitToEnter(deadline, waitingFor, onOutage),
    leave: semaphore.release,
    connections: () => ({ inUse: semaphore.inUse(), waiting: semaphore.waiting() }),
  };
}
