import { open } from 'node:fs/promises';

type Line = Record<string, unknown>;

/**
 * Answers all lines of a log that grows, again and again; only what is new is read and parsed.
 * A line that a kill has cut in two is no line.
 */
export function createLogReader(file: string): () => Promise<Line[]> {
  const lines: Line[] = [];
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
      for (const line of buffer.toString('utf8', 0, whole).split('\n')) lines.push(...parsed(line));
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
