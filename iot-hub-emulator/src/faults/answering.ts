import type { Connection, Link } from '../network/connections.ts';
import { Refusal } from '../values/refusal.ts';
import { cut } from './immediate.ts';
import type { FaultOf } from './schema.ts';
import type { StandingFaults } from './standing.ts';

/** How the hub settles a message that a client sent. An outcome that the protocol does not have is absent. */
export interface Dispositions {
  accept(): void;
  reject(condition: string, description: string): void;
  release?(): void;
  modify?(): void;
  /** Never answer: what the protocol keeps for the answer goes. */
  forget?(): void;
}

/** A message that a client sent, and its connection. */
export interface Arrival {
  kind: 'c2d' | 'd2c' | 'events';
  deviceId: string | undefined;
  connection: Connection;
  link?: Link;
  /** Called with the answer of the fault that applies to the message. */
  onFault?(answer: FaultOf<'settle'>['answer']): void;
}

/**
 * Settle a message that a client sent: `take` takes it in, or throws a `Refusal`; then it is accepted or rejected, unless a
 * `settle` fault demands another answer. On a connection that the hub has ended, the message is not taken in.
 */
export function answer(faults: StandingFaults, arrival: Arrival, take: () => void, answers: Dispositions): void {
  const { kind, deviceId } = arrival;
  if (arrival.connection.unanswerable) return;
  const standing = faults.strike('settle', { link: kind, deviceId });
  if (!standing) {
    settle(take, answers);
    return;
  }
  const { fault } = standing;
  arrival.onFault?.(fault.answer);
  const isRefused = ['release', 'modify', 'reject'].includes(fault.answer);
  let regularAnswer = answers.accept;
  if (fault.effect ?? !isRefused)
    settle(take, {
      accept: () => undefined,
      reject(condition, description) {
        regularAnswer = () => answers.reject(condition, description);
      },
    });
  answerAsFaulted(fault, arrival, answers, regularAnswer, standing.onEnd);
}

const failed = new Refusal('amqp:internal-error', 'The hub failed to take this message in.');

function settle(take: () => void, { accept, reject }: Dispositions): void {
  try {
    take();
  } catch (error) {
    // one that was held back is taken in from a timer, where nobody would catch what else is thrown
    const { condition, message } = error instanceof Refusal ? error : failed;
    reject(condition, message);
    return;
  }
  accept();
}

function answerAsFaulted(
  fault: FaultOf<'settle'>,
  { connection, link }: Arrival,
  answers: Dispositions,
  regularAnswer: () => void,
  whenCleared: (step: () => void) => void,
): void {
  const { condition } = fault;
  const reason = condition === undefined ? undefined : { condition, description: 'A fault.' };
  const end: Record<typeof fault.answer, () => void> = {
    hold: () => whenCleared(regularAnswer),
    delay: () => void setTimeout(regularAnswer, fault.ms ?? 1000).unref(),
    never: () => answers.forget?.(),
    release: () => answers.release?.(),
    modify: () => answers.modify?.(),
    reject: () => answers.reject(condition ?? 'amqp:internal-error', 'A fault rejects this message.'),
    detach: () => (link ? link.detach(reason, true) : connection.close(reason)),
    close: () => connection.close(reason, fault.links),
    fin: () => cut(connection, 'fin'),
    rst: () => cut(connection, 'rst'),
  };
  end[fault.answer]();
}
