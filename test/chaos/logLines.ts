import { open } from 'node:fs/promises';

type Line = Record<string, unknown>;

/**
 * Answers all lines of a log that grows, again and again; only what is new is read and parsed.
 * A line that a kill has cut in two is no line. Times are those of the right clock, also after a line that says that the
 * clock of the program was set (settableClock).
 */
export function createLogReader(file: string): () => Promise<Line[]> {
  const lines: Line[] = [];
  const rightTime = createTimeCorrection();
  let at = 0;
  let reading: Promise<unknown> = Promise.resolve();

  async function readOn(): Promise<void> {
    const handle = await open(file).catch(() => undefined); // not there yet
    if (handle === undefined) return;
    try {
      const { size } = await handle.stat();
      const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(size - at), position: at });
      const whole = buffer.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
      at += whole;
      for (const text of buffer.toString('utf8', 0, whole).split('\n')) {
        for (const line of parsed(text)) lines.push(rightTime(line));
      }
    } finally {
      await handle.close();
    }
  }

  return async () => {
    const turn = reading.then(readOn);
    reading = turn.catch(() => undefined);
    await turn;
    return [...lines];
  };
}

function parsed(line: string): Line[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}

/** Lines that were written shortly before the clock was set can follow the line that says so: the time next to the last one is right. */
function createTimeCorrection(): (line: Line) => Line {
  let [ahead, aheadBefore, last] = [0, 0, Number.NaN];
  return (line) => {
    const { time, clockAheadMs } = line;
    if (typeof clockAheadMs === 'number') [ahead, aheadBefore] = [clockAheadMs, ahead];
    if (typeof time !== 'string') return line;
    const [at, other] = [Date.parse(time) - ahead, Date.parse(time) - aheadBefore];
    last = Math.abs(other - last) < Math.abs(at - last) ? other : at;
    return { ...line, time: new Date(last).toISOString() };
  };
}
