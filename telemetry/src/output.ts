/** Characters of one turn of the event loop that are put together at most. */
const mostOfTurn = 65_536;
/** Bytes that wait at most for what reads them. */
const mostWaiting = 1_048_576;
/** What reads nothing for this time stands still. */
const patienceMs = 1_000;
const againMs = 50;
const stepMs = 10;

/**
 * Writes the lines of one turn of the event loop together, at its end: a busy service writes dozens of lines in each turn, and
 * a call of the system costs as much as a line (D151). Lines that are not read wait; beyond the limit the process waits for its
 * reader, and drops lines when that stands still, so that it goes on. What is dropped is one gap: it ends when nothing waits any more.
 * @param take takes bytes as far as it can at once, and answers how many; 0 when it can take none now. Throws when they are lost
 * @param onGap so many lines are missing before the next one
 */
export function createOutput(take: (bytes: Uint8Array) => number, onGap: (lines: number) => void) {
  let turn = { text: '', lines: 0 };
  let next: NodeJS.Immediate | undefined;
  let again: NodeJS.Timeout | undefined;
  /** Whole lines, but for the first, which may have been taken in part. */
  let queue: { readonly bytes: Uint8Array; readonly lines: number }[] = [];
  let waiting = 0;
  let standsStill = false;
  let gap = 0;
  let total = 0;

  function drop(lines: number) {
    gap += lines;
    total += lines;
  }

  /** Whether anything was taken. */
  function push(): boolean {
    const before = waiting;
    try {
      for (let [first] = queue; first !== undefined; [first] = queue) {
        const { bytes, lines } = first;
        const taken = take(bytes);
        waiting -= taken;
        if (taken === bytes.length) queue.shift();
        else queue[0] = { bytes: bytes.subarray(taken), lines };
        if (taken === 0) break;
      }
    } catch {
      for (const { lines } of queue) total += lines; // no gap: there is nothing to tell it to
      queue = [];
      waiting = 0;
      return false;
    }
    if (waiting < before) standsStill = false;
    return waiting < before;
  }

  function awaitReader(isEnough: () => boolean, mostMs = Number.POSITIVE_INFINITY) {
    const since = performance.now();
    let readAt = since;
    while (!isEnough() && performance.now() - since <= mostMs) {
      if (push()) readAt = performance.now();
      else if (performance.now() - readAt < patienceMs) Atomics.wait(cell, 0, 0, stepMs);
      else {
        standsStill = true;
        return;
      }
    }
  }

  function enqueue() {
    const { text, lines } = turn;
    turn = { text: '', lines: 0 };
    if (lines === 0) return;
    const bytes = Buffer.from(text);
    const hasRoom = () => waiting === 0 || waiting + bytes.length <= mostWaiting;
    if (gap === 0 && !hasRoom() && !standsStill) awaitReader(hasRoom);
    if (gap > 0 || !hasRoom()) return drop(lines);
    queue.push({ bytes, lines });
    waiting += bytes.length;
  }

  function settle() {
    push();
    if (waiting > 0) {
      clearTimeout(again);
      again = setTimeout(settle, againMs).unref();
      return;
    }
    const lines = gap;
    gap = 0;
    if (lines > 0) onGap(lines);
  }

  function endTurn() {
    clearImmediate(next);
    next = undefined;
    enqueue();
    settle();
  }

  return {
    write(line: string) {
      turn.text += line;
      turn.lines += 1;
      if (turn.text.length > mostOfTurn) endTurn();
      else next ??= setImmediate(endTurn);
    },
    /** Hands over what waits; waits itself for what reads it, a second at most. */
    flush() {
      endTurn();
      if (standsStill) return;
      awaitReader(() => waiting === 0, patienceMs);
      settle();
    },
    /** For the end of the process: waits as long as something is read. */
    end() {
      endTurn();
      awaitReader(() => waiting === 0);
      settle();
    },
    /** Lines that were dropped since the start. */
    dropped: () => total,
  };
}

/** Nobody writes to it: waiting for that holds the whole process up for a time. */
const cell = new Int32Array(new SharedArrayBuffer(4));
