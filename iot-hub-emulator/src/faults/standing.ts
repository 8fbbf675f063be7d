import type { FaultOf, StandingFault } from './schema.ts';

/** A fault that stands; `struck` counts how often it applied. */
export interface ActiveFault<F extends StandingFault = StandingFault> {
  readonly id: string;
  readonly fault: F;
  struck: number;
  /** Called once, when the fault is cleared or used up: undo what it holds back. */
  readonly onEnd: (undo: () => void) => void;
}

/** What the hub knows where it asks for a fault. A fault that names a field applies only where the field has that value. */
export type FaultContext = Readonly<Record<string, string | undefined>>;

/** The standing faults, by kind: while none of a kind stands, asking for one costs a look-up. */
export interface StandingFaults {
  add(fault: StandingFault): ActiveFault;
  /** The oldest fault of a kind that applies in this context; counts it. */
  strike<K extends StandingFault['kind']>(kind: K, context?: FaultContext): ActiveFault<FaultOf<K>> | undefined;
  list(): ActiveFault[];
  /** End one fault, or all. The answer is how many ended. */
  clear(id?: string): number;
  /** Call `listener` whenever a fault of this kind comes, and again when it ends. */
  watch(kind: StandingFault['kind'], listener: () => void): () => void;
}

interface FaultEntry extends ActiveFault {
  skip: number;
  isUsedUp: boolean;
  readonly undo: (() => void)[];
}

/** A store of standing faults, empty at first. */
export function createStandingFaults(): StandingFaults {
  const byKind = new Map<string, FaultEntry[]>();
  const watchers = new Map<string, Set<() => void>>();
  let last = 0;

  const notify = (kind: string): void => {
    for (const listener of watchers.get(kind) ?? []) listener();
  };

  const remove = (entry: FaultEntry): void => {
    const { kind } = entry.fault;
    const left = (byKind.get(kind) ?? []).filter((other) => other !== entry);
    if (left.length === 0) byKind.delete(kind);
    else byKind.set(kind, left);
  };

  const end = (entry: FaultEntry): void => {
    remove(entry);
    for (const undo of entry.undo.splice(0)) undo();
    notify(entry.fault.kind);
  };

  const list = (): FaultEntry[] => [...byKind.values()].flat().sort((a, b) => Number(a.id) - Number(b.id));

  return {
    add(fault) {
      last += 1;
      const undo: (() => void)[] = [];
      const entry: FaultEntry = {
        id: String(last),
        fault,
        struck: 0,
        isUsedUp: false,
        skip: 'skip' in fault ? (fault.skip ?? 0) : 0,
        undo,
        onEnd: (step) => void undo.push(step),
      };
      byKind.set(fault.kind, [...(byKind.get(fault.kind) ?? []), entry]);
      notify(fault.kind);
      return entry;
    },

    strike<K extends StandingFault['kind']>(kind: K, context: FaultContext = {}) {
      const entry = byKind.get(kind)?.find(({ fault, isUsedUp: spent }) => !spent && matches(fault, context));
      if (!entry) return undefined;
      if (entry.skip > 0) {
        entry.skip -= 1;
        return undefined;
      }
      entry.struck += 1;
      if ('times' in entry.fault && entry.struck === entry.fault.times) {
        // a used-up fault applies no more; messages that it holds back stay held until it is cleared
        if (holds(entry.fault)) entry.isUsedUp = true;
        else end(entry);
      }
      return entry as unknown as ActiveFault<FaultOf<K>>;
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

// fields of a fault that say where it applies; all others say what it does
const equal = ['link', 'deviceId', 'connections', 'port', 'partition', 'group', 'method', 'methodName'] as const;
const within = ['address', 'path'] as const;

function matches(fault: StandingFault, context: FaultContext): boolean {
  const wanted = fault as FaultContext;
  return (
    equal.every((name) => wanted[name] === undefined || wanted[name]?.toLowerCase() === context[name]?.toLowerCase()) &&
    within.every((name) => contains(context[name], wanted[name]))
  );
}

function contains(text = '', part = ''): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}
