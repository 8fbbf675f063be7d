interface Stream {
  write(lines: string): void;
}

/** Where lines go that are written together. */
export interface Output extends Stream {
  /** Writes at once what waits. */
  flush(): void;
}

/** Characters that wait at most, in a turn of the event loop that takes long. */
const mostWaiting = 65_536;

/**
 * Writes the lines of one turn of the event loop together, at its end: a busy service writes dozens of lines in each turn, and
 * a call of the system costs as much as a line (D151).
 */
export function createOutput(below: Stream): Output {
  let waiting = '';
  let next: NodeJS.Immediate | undefined;

  function flush() {
    clearImmediate(next);
    next = undefined;
    if (waiting === '') return;
    const lines = waiting;
    waiting = '';
    below.write(lines);
  }

  return {
    write(line) {
      waiting += line;
      if (waiting.length > mostWaiting) flush();
      else next ??= setImmediate(flush);
    },
    flush,
  };
}
