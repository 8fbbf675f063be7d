import { facts } from '../catalogue.ts';
import type { Fact } from '../fact.ts';
import { createLab } from '../lab/lab.ts';
import { type Outcome, type Permissions, probe } from '../lab/probe.ts';
import type { Target } from '../lab/target.ts';

interface RunOptions {
  readonly permissions: Permissions;
  /** These only; all when omitted. */
  readonly only?: readonly string[];
  /** Ends the run: what has not been tried is not tried any more, and the devices are removed. */
  readonly signal?: AbortSignal;
  readonly onOutcome?: (outcome: Outcome) => void;
}

/** Probes a hub, one fact after the other. Rejects with the ids of devices that it could not remove. */
export async function probeAll(
  target: Target,
  { permissions, only, signal, onOutcome }: RunOptions,
): Promise<readonly Outcome[]> {
  const lab = createLab(target);
  const stopped = new Promise<'stopped'>((resolve) => signal?.addEventListener('abort', () => resolve('stopped')));
  const one = async (fact: Fact): Promise<Outcome> => {
    const none: Outcome = { id: fact.id, result: 'not tried', why: 'the run was stopped' };
    if (signal?.aborted) return none;
    const outcome = await Promise.race([probe(fact, lab, permissions), stopped]);
    return outcome === 'stopped' ? none : outcome;
  };
  const outcomes: Outcome[] = [];
  try {
    for (const fact of facts.filter(({ id }) => only?.includes(id) ?? true)) {
      const outcome = await one(fact);
      outcomes.push(outcome);
      onOutcome?.(outcome);
    }
  } finally {
    await lab.close();
  }
  return outcomes;
}
