import type { Connection, Link } from '../network/connections.ts';
import { Refusal } from '../values/refusal.ts';
import { cut } from './immediate.ts';
import type { FaultOf } from './schema.ts';
import type { StandingFaults } from './standing.ts';

/** How a sender is told what became of its message. A protocol that has no word for one of them says nothing. */
export interface Answers {
  accept(): void;
  reject(condition: string, description: string): void;
  release?(): void;
  modify?(): void;
}

/** A message that came, and from where. */
export interface Arrival {
  kind: 'c2d' | 'd2c' | 'events';
  deviceId: string | undefined;
  connection: Connection;
  link?: Link;
  /** Told the answer of the fault that strikes the message. */
  onFault?(answer: FaultOf<'settle'>['answer']): void;
}

/**
 * The one place where messages that came are answered: `take` takes the message in, or throws a `Refusal`; then it is
 * accepted or rejected, unless a `settle` fault wants something else. When nobody can be answered, nothing is taken.
 */
export function answer(faults: StandingFaults, arrival: Arrival, take: () => void, answers: Answers): void {
  const { kind, deviceId } = arrival;
  if (arrival.connection.unanswerable) return;
  const standing = faults.strike('settle', { link: kind, deviceId });
  if (!standing) {
    settle(take, answers);
    return;
  }
  const { fault } = standing;
  arrival.onFault?.(fault.answer);
  const untaken = ['release', 'modify', 'reject'].includes(fault.answer);
  let usual = answers.accept;
  if (fault.effect ?? !untaken)
    settle(take, {
      accept: () => undefined,
      reject(condition, description) {
        usual = () => answers.reject(condition, description);
      },
    });
  answerAsFaulted(fault, arrival, answers, usual, standing.onEnd);
}

function settle(take: () => void, { accept, reject }: Answers): void {
  try {
    take();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    reject(error.condition, error.message);
    return;
  }
  accept();
}

function answerAsFaulted(
  fault: FaultOf<'settle'>,
  { connection, link }: Arrival,
  answers: Answers,
  usual: () => void,
  whenCleared: (step: () => void) => void,
): void {
  const { condition } = fault;
  const reason = condition === undefined ? undefined : { condition, description: 'A fault.' };
  const end: Record<typeof fault.answer, () => void> = {
    hold: () => whenCleared(usual),
    delay: () => void setTimeout(usual, fault.ms ?? 1000).unref(),
    never: () => undefined,
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
