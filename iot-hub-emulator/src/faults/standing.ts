import type { FaultOf, StandingFault } from './schema.ts';

/** A fault that stands; `struck` counts what it hit. */
export interface Standing<F extends StandingFault = StandingFault> {
  readonly id: string;
  readonly fault: F;
  struck: number;
  /** Called once, when the fault is cleared or used up: undo what it holds back. */
  readonly onEnd: (undo: () => void) => void;
}

/** What a hook knows about the moment; a fault that names a field hits only where it is the same. */
export type Moment = Readonly<Record<string, string | undefined>>;

/** The faults that stand, by kind: where none of a kind stands, asking for one costs a look-up. */
export interface StandingFaults {
  add(fault: StandingFault): Standing;
  /** The oldest fault of a kind that hits this moment, counted. */
  strike<K extends StandingFault['kind']>(kind: K, moment?: Moment): Standing<FaultOf<K>> | undefined;
  list(): Standing[];
  /** End one fault, or all. The answer is how many ended. */
  clear(id?: string): number;
  /** Call `listener` whenever a fault of this kind comes, and again when it ends. */
  watch(kind: StandingFault['kind'], listener: () => void): () => void;
}

interface Entry extends Standing {
  skip: number;
  spent: boolean;
  readonly undo: (() => void)[];
}

/** A store of standing faults, empty at first. */
export function createStandingFaults(): StandingFaults {
  const byKind = new Map<string, Entry[]>();
  const watchers = new Map<string, Set<() => void>>();
  let last = 0;

  const tell = (kind: string): void => {
    for (const listener of watchers.get(kind) ?? []) listener();
  };

  const remove = (entry: Entry): void => {
    const { kind } = entry.fault;
    const left = (byKind.get(kind) ?? []).filter((other) => other !== entry);
    if (left.length === 0) byKind.delete(kind);
    else byKind.set(kind, left);
  };

  const end = (entry: Entry): void => {
    remove(entry);
    for (const undo of entry.undo.splice(0)) undo();
    tell(entry.fault.kind);
  };

  const list = (): Entry[] => [...byKind.values()].flat().sort((a, b) => Number(a.id) - Number(b.id));

  return {
    add(fault) {
      last += 1;
      const undo: (() => void)[] = [];
      const entry: Entry = {
        id: String(last),
        fault,
        struck: 0,
        spent: false,
        skip: 'skip' in fault ? (fault.skip ?? 0) : 0,
        undo,
        onEnd: (step) => void undo.push(step),
      };
      byKind.set(fault.kind, [...(byKind.get(fault.kind) ?? []), entry]);
      tell(fault.kind);
      return entry;
    },

    strike<K extends StandingFault['kind']>(kind: K, moment: Moment = {}) {
      const entry = byKind.get(kind)?.find(({ fault, spent }) => !spent && hits(fault, moment));
      if (!entry) return undefined;
      if (entry.skip > 0) {
        entry.skip -= 1;
        return undefined;
      }
      entry.struck += 1;
      if ('times' in entry.fault && entry.struck === entry.fault.times) {
        // what is used up hits no more; what it holds it still holds until somebody clears it
        if (holds(entry.fault)) entry.spent = true;
        else end(entry);
      }
      return entry as unknown as Standing<FaultOf<K>>;
    },

    list,
    clear(id) {
      const ending = list().filter((entry) => id === undefined || entry.id === id);
      for (const entry of ending) end(entry);
      return ending.length;
    },
    watch(kind, listener) {
      const listeners = watchers.get(kind) ?? new Set();
      watchers.set(kind, listeners.add(listener));
      return () => listeners.delete(listener);
    },
  };
}

const holds = (fault: StandingFault): boolean => fault.kind === 'settle' && fault.answer === 'hold';

// fields of a fault that say where it hits; all others say what it does
const equal = ['link', 'deviceId', 'connections', 'port', 'partition', 'group', 'method', 'methodName'] as const;
const within = ['address', 'path'] as const;

function hits(fault: StandingFault, moment: Moment): boolean {
  const wanted = fault as Moment;
  return (
    equal.every((name) => wanted[name] === undefined || wanted[name]?.toLowerCase() === moment[name]?.toLowerCase()) &&
    within.every((name) => contains(moment[name], wanted[name]))
  );
}

function contains(text = '', part = ''): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}
