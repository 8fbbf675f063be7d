import { processesIn } from './counts.ts';
import type { Instance } from './instance.ts';
import type { Line } from './observe.ts';
import { type Interruption, type Stage, uncoveredMessages } from './stage.ts';

/** A checkpoint that was under way when the store had recovered may take so long to come through. */
const recoveryMs = 2_000;

/**
 * How many messages of each partition may have been handled again, as docs/guarantees.md has it: for each time that its
 * reader was killed, or that it was taken away, the messages in work and those since the last checkpoint. While the store
 * is in trouble there is none, and what is handled meanwhile is added.
 */
export async function boundsOf(
  stage: Pick<Stage, 'interruptions' | 'storeTroubles'>,
  lines: readonly Pick<Line, 'partition' | 'at'>[],
): Promise<Map<string, number>> {
  const bounds = new Map<string, number>();
  for (const interruption of stage.interruptions) {
    const { at, of } = interruption;
    const begins = stage.storeTroubles.filter(({ from, to }) => from <= at && at <= to + recoveryMs);
    const since = Math.min(at, ...begins.map(({ from }) => from));
    for (const partition of typeof of === 'string' ? [of] : await partitionsReadBy(of, at)) {
      const meanwhile = lines.filter((line) => line.partition === partition && line.at >= since && line.at <= at);
      bounds.set(partition, (bounds.get(partition) ?? 0) + uncoveredMessages + meanwhile.length);
    }
  }
  return bounds;
}

/** Which partitions an instance had begun to read and not left by then, as its log says. */
export async function partitionsReadBy(instance: Instance, at: number): Promise<ReadonlySet<string>> {
  const reading = new Set<string>();
  for (const { msg, time, partition } of await instance.lines()) {
    if (Date.parse(String(time)) > at) break;
    if (msg === 'health is served at /livez and /readyz') reading.clear();
    if (msg === 'reading partition') reading.add(String(partition));
    if (msg === 'partition released' || msg === 'another instance reads this partition now')
      reading.delete(String(partition));
  }
  return reading;
}

/**
 * On a starved machine an instance can lose a partition without a planned misfortune, because it renews too late. After a
 * standstill it gives up all that it reads, also what it has begun to read since.
 */
export const revocationsIn = (lines: readonly Record<string, unknown>[]): Interruption[] =>
  lines.flatMap(({ msg, event, time, partition, partitions }) => {
    const given =
      (event === 'partitions.stood_still' || event === 'partitions.cut_off') && Array.isArray(partitions)
        ? partitions
        : [];
    const lost = msg === 'another instance reads this partition now' ? [partition] : given;
    return lost.map((of) => ({ at: Date.parse(String(time)), of: String(of) }));
  });

/** A stop to which the store gives no last checkpoint says so, and leaves those of its partitions as they were. */
export const unwrittenIn = (lines: readonly Record<string, unknown>[]): Interruption[] =>
  processesIn(lines).flatMap((own) => {
    const stopped = own.find(({ event }) => event === 'program.stopped');
    const unwritten = new Set<unknown>();
    for (const { event, trouble, partition } of own) {
      if (event === 'checkpoint.not_written') unwritten.add(partition);
      if (event === 'partition.released' || trouble === 'checkpoint.not_written') unwritten.delete(partition);
    }
    return stopped ? [...unwritten].map((of) => ({ at: Date.parse(String(stopped['time'])), of: String(of) })) : [];
  });
