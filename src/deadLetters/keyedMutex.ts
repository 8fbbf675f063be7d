/** Runs the work for each key in order. Work for different keys runs concurrently. */
export interface KeyedMutex {
  /** Settles as the work does. Later work runs even after a failure. */
  run<T>(id: string, work: () => Promise<T>): Promise<T>;
  /** Keys with unfinished work. */
  readonly busy: ReadonlyMap<string, unknown>;
}

export function createKeyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<void>>();

  return {
    run(id, work) {
      const turn = (last.get(id) ?? Promise.resolve()).then(work);
      const end = () => {
        if (last.get(id) === ended) last.delete(id);
      };
      const ended: Promise<void> = turn.then(end, end);
      last.set(id, ended);
      return turn;
    },
    busy: last,
  };
}
