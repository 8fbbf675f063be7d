import type { Troubles } from '../../log/troubles.ts';
import type { SendQueue } from './sendQueue.ts';

/** Notices replies that nothing holds and that are still not sent: a defect that would otherwise be silent (D182). */
export interface StuckWatch {
  /** For an operator; empty when nothing is stuck. */
  missing(): string[];
  stop(): void;
}

interface StuckWatchOptions {
  readonly sendQueue: Pick<SendQueue, 'idleForMs' | 'state'>;
  /** Whether the connection to the hub is up. */
  readonly isOpen: () => boolean;
  readonly troubles: Troubles;
}

const stuckAfterMs = 30_000;
const lookEveryMs = 5_000;
const source = 'replies stuck';

export function createStuckWatch({ sendQueue, isOpen, troubles }: StuckWatchOptions): StuckWatch {
  const isStuck = () => isOpen() && sendQueue.idleForMs() > stuckAfterMs;
  const waiting = () => ({ waitingReplies: sendQueue.state().waiting });

  function look() {
    const message = 'replies that could be sent are not sent';
    if (isStuck()) troubles.raise(source, { level: 'error', message, fields: waiting(), still: waiting });
    else troubles.clear(source, 'replies are sent again', waiting());
  }

  const timer = setInterval(look, lookEveryMs).unref();
  return {
    missing: () => (isStuck() ? ['replies that could be sent and are not; a restart of the service may help'] : []),
    stop: () => clearInterval(timer),
  };
}
