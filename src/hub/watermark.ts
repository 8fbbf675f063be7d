/**
 * A *watermark* is the newest position of a partition below which everything is done. Work finishes in any order; only
 * the watermark is safe to resume after (G1).
 */
export interface Watermark<Position> {
  /** Registers work in arrival order; call the answer once, when it is done. */
  begin(position: Position): () => void;
  /** Registers a position that needs no work. */
  pass(position: Position): void;
  /** The newest safe position; undefined before the first. */
  safe(): Position | undefined;
  /** Work begun and not done. */
  pending(): number;
}

interface Entry<Position> {
  position: Position;
  done: boolean;
  next: Entry<Position> | undefined;
}

export function createWatermark<Position>(): Watermark<Position> {
  let oldest: Entry<Position> | undefined;
  let newest: Entry<Position> | undefined;
  let safe: Position | undefined;
  let pending = 0;

  function advance() {
    while (oldest?.done) {
      safe = oldest.position;
      oldest = oldest.next;
    }
    if (oldest === undefined) newest = undefined;
  }

  return {
    begin(position) {
      const entry: Entry<Position> = { position, done: false, next: undefined };
      if (newest) newest.next = entry;
      else oldest = entry;
      newest = entry;
      pending += 1;
      return () => {
        if (entry.done) return;
        entry.done = true;
        pending -= 1;
        if (entry === oldest) advance();
      };
    },
    pass(position) {
      if (newest === undefined) safe = position;
      else if (newest.done) newest.position = position;
      else newest = newest.next = { position, done: true, next: undefined };
    },
    safe: () => safe,
    pending: () => pending,
  };
}
