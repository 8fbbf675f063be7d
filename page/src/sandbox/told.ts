import { usePolled } from '../kit/ask.ts';

/** What the demonstration says about a message or an invocation. */
export interface Told {
  /** Of its first entry in the journal. */
  readonly position: number;
  /** A sentence about what happens. */
  readonly title: string;
  /** Of an invocation. */
  readonly method?: string;
  readonly status?: number;
  /** How it differs from what is expected. */
  readonly problems: readonly string[];
}

/** What the demonstration has said so far, by position. */
export function useTold(): ReadonlyMap<number, Told> {
  const told = usePolled<{ told: readonly Told[] }>('told', 2_000).value?.told ?? [];
  return new Map(told.map((one) => [one.position, one]));
}
