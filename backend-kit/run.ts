import type { Answer } from './client.ts';
import { Blocked, Broken, NotTried } from './expect.ts';
import { createKit, type Given } from './kit.ts';
import { rules } from './rules/index.ts';
import type { Rule } from './rules/rule.ts';

/** What became of a rule. */
export interface Result {
  readonly rule: Rule;
  readonly outcome: 'holds' | 'broken' | 'not tried';
  /** Why it does not hold, or was not tried; empty where it holds. */
  readonly why: string;
  /** It was not tried for what the backends answer, not for what was given. */
  readonly isBlocked: boolean;
  /** The exchange that showed it, where it does not hold. */
  readonly shown: Answer | undefined;
  readonly ms: number;
}

export interface Outcome {
  /** What the names of all that it made begin with. */
  readonly run: string;
  readonly results: readonly Result[];
  /** Nothing deletes types and object models. */
  readonly left: { readonly types: readonly string[]; readonly objects: readonly string[] };
  /** Of what was given, what the next run cannot be given. */
  readonly spent: readonly string[];
}

export interface RunOptions {
  readonly given: Given;
  /** Of the service. */
  readonly token: string;
  /** Beginnings of ids of rules; all when empty. */
  readonly only?: readonly string[];
  /** Of each call, as the service has it. */
  readonly timeoutMs?: number;
  readonly onResult?: (result: Result) => void;
}

/** Tries the rules one after the other. */
export async function runKit({ given, token, only = [], timeoutMs = 30_000, onResult }: RunOptions): Promise<Outcome> {
  const kit = createKit(given, token, timeoutMs);
  const results: Result[] = [];
  try {
    for (const rule of rules) {
      if (only.length > 0 && !only.some((beginning) => rule.id.startsWith(beginning))) continue;
      const begun = performance.now();
      const ended = await rule.attempt(kit).then(
        () => ({ outcome: 'holds' as const, why: '', isBlocked: false, shown: undefined }),
        (error: unknown) => {
          const isBlocked = error instanceof Blocked;
          if (error instanceof NotTried)
            return { outcome: 'not tried' as const, why: error.message, isBlocked, shown: undefined };
          if (!(error instanceof Broken)) throw error;
          return { outcome: 'broken' as const, why: error.message, isBlocked, shown: error.answer };
        },
      );
      const exchanges = kit.takeExchanges();
      const shown = ended.outcome === 'broken' ? (ended.shown ?? exchanges.at(-1)) : undefined;
      const result = { rule, ...ended, shown, ms: performance.now() - begun };
      results.push(result);
      onResult?.(result);
    }
  } finally {
    kit.close();
  }
  const { types, objects } = kit.left;
  return { run: kit.run, results, left: { types: [...types], objects: [...objects] }, spent: [...kit.spent] };
}

/** The service needs what does not hold, or nobody knows whether it holds. */
export const isFailure = ({ rule, outcome, isBlocked }: Result): boolean =>
  isBlocked || (outcome === 'broken' && rule.level === 'must');
