import type { Gap } from '../../engine/partition.ts';
import type { Troubles } from '../../observing/log.ts';
import type { Meter } from '../../observing/metrics.ts';
import type { Taps } from '../../observing/taps.ts';

/** Least time between questions: the hub limits them, for all clients together (fact reading.questions). */
const everyMs = 1_000;
/** Gaps that wait for a reason. */
const mostWaiting = 1_000;

export type GapReports = ReturnType<typeof createGapReports>;

/**
 * Reports each gap in the sequence numbers of a partition session once, with its reason: counted, logged, tapped (D191; facts
 * events.sequence, reading.before-oldest).
 * @param oldestOf asks the hub for the sequence number of the oldest event that it keeps
 */
export function createGapReports(
  partition: string,
  oldestOf: () => Promise<number>,
  troubles: Pick<Troubles, 'raise'>,
  meter: Pick<Meter, 'counter'>,
  taps?: Pick<Taps, 'all'>,
) {
  const count = meter.counter('device_messaging.gaps');
  const waiting: Gap[] = [];
  /** The open question is about so many, the first of those that wait. */
  let asked = 0;
  let isAsking = false;

  function tell({ after, next }: Gap, reason: 'retention' | 'unknown') {
    const told = { after, missing: next - after - 1, reason };
    const fields = { partition, ...told };
    count(reason);
    taps?.all({ partition, sequenceNumber: next })?.('gap', told);
    const message = 'events of the partition are missing';
    troubles.raise(`partition ${partition}: gap, ${reason}`, { level: 'warn', message, fields });
  }

  /** @param oldest event that the hub keeps, as far as is known */
  function tellFirst(most: number, oldest = 0) {
    asked = 0;
    for (const gap of waiting.splice(0, most)) tell(gap, oldest >= gap.next ? 'retention' : 'unknown');
  }

  async function ask() {
    isAsking = true;
    while (waiting.length > 0) {
      asked = waiting.length;
      const oldest = await oldestOf().catch(() => undefined);
      tellFirst(asked, oldest);
      await new Promise<void>((resolve) => setTimeout(resolve, everyMs).unref());
    }
    isAsking = false;
  }

  return {
    report(gap: Gap) {
      if (waiting.length - asked === mostWaiting) tell(gap, 'unknown');
      else waiting.push(gap);
      if (!isAsking) void ask();
    },
    /** Reports what still waits for its reason. */
    close: () => tellFirst(waiting.length),
  };
}
