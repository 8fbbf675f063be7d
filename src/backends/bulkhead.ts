import type { Circuit } from './circuit.ts';
import type { Deadline } from './deadline.ts';
import { createSemaphore } from './semaphore.ts';

/** Lets attempts through to a backend that is there, each over a connection of its own (B5, D21). */
export interface Bulkhead {
  /**
   * Undefined when there is nothing to wait for. Who has been let through must `leave`.
   * @param waitingFor words for `details`
   * @param onOutage called when it is the backend that is waited for, not a connection
   * @throws Rejection timeout_exceeded
   * @throws Abandoned
   */
  enter(deadline: Deadline, waitingFor: () => string, onOutage?: () => void): Promise<void> | undefined;
  leave(): void;
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
  };
}
