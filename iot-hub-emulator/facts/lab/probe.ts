import type { Disturbed, Fact, Need, Probe } from '../fact.ts';
import { Differs, NotTried, show } from './differs.ts';
import type { Lab } from './lab.ts';

/** What became of a fact. */
export interface Outcome {
  readonly id: string;
  readonly result: 'held' | 'differs' | 'not tried';
  /** How it differs, or why it was not tried. */
  readonly why?: string;
}

export interface Permissions {
  /** What the hub and the run have. */
  readonly has: ReadonlySet<Need>;
  readonly mayDisturb: ReadonlySet<Disturbed>;
}

/** Why a fact is not probed; undefined when it is. */
export function skipped({ check }: Fact, { has, mayDisturb }: Permissions): string | undefined {
  if (typeof check === 'string') return check;
  const lacking = check.needs?.find((need) => !has.has(need));
  if (lacking !== undefined) return reasons[lacking];
  if (check.disturbs !== undefined && !mayDisturb.has(check.disturbs)) return disturbances[check.disturbs];
  return undefined;
}

const disturbances: Readonly<Record<Disturbed, string>> = {
  readers: 'other readers of the consumer group would lose a partition: --group',
  feedback: 'other services would get their feedback later: --feedback',
};

const reasons: Readonly<Record<Need, string>> = {
  toDevices: 'the tier has no messages to devices',
  methods: 'the tier has no methods and twins',
  storage: 'no storage account was given',
};

export async function probe(fact: Fact, lab: Lab, permissions: Permissions): Promise<Outcome> {
  const { id, check } = fact;
  const why = skipped(fact, permissions);
  if (why !== undefined || typeof check === 'string') return { id, result: 'not tried', why: why ?? '' };
  return seen(id, check, lab);
}

async function seen(id: string, { run }: Probe, lab: Lab): Promise<Outcome> {
  try {
    await run(lab);
    return { id, result: 'held' };
  } catch (error) {
    if (error instanceof NotTried) return { id, result: 'not tried', why: error.message };
    const why = error instanceof Differs ? error.message : `it ended with ${show(error)}`;
    return { id, result: 'differs', why };
  }
}
