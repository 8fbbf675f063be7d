/** Work on one thing, such as a dead letter, runs in the order in which it was given; work on others runs beside it. */
export interface Turns {
  /** Settles as the work does. A failure does not keep the next from its turn. */
  run<T>(id: string, work: () => Promise<T>): Promise<T>;
  /** What is being worked on. */
  busy(): Iterable<string>;
}

export function createTurns(): Turns {
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
    busy: () => last.keys(),
  };
}
