import type { Gap } from '../../engine/partition/partition.ts';
import type { Troubles } from '../../log/troubles.ts';
import type { Meter } from '../../metrics/meter.ts';
import type { Taps } from '../../tap/taps.ts';

/** Reports each gap in the sequence numbers of a partition session once, with its reason: counted, logged, tapped (D191; facts events.sequence, reading.before-oldest). */
export interface GapReports {
  report(gap: Gap): void;
  /** Reports what still waits for its reason. */
  close(): void;
}

interface GapReportsOptions {
  readonly partition: string;
  /** Asks the hub for the sequence number of the oldest event that it keeps. */
  readonly oldestOf: () => Promise<number>;
  readonly troubles: Pick<Troubles, 'raise'>;
  readonly meter: Pick<Meter, 'counter'>;
  /** No device is followed when omitted. */
  readonly taps?: Pick<Taps, 'all'> | undefined;
}

/** Least time between questions: the hub limits them, for all clients together (fact reading.questions). */
const everyMs = 1_000;
/** Gaps that wait for a reason. */
const mostWaiting = 1_000;

export function createGapReports({ partition, oldestOf, troubles, meter, taps }: GapReportsOptions): GapReports {
  const count = meter.counter('device_messaging.gaps');
  let waiting: Gap[] = [];
  /** Those that the open question is about. */
  let asked: Gap[] = [];
  let isAsking = false;

  function report({ after, next }: Gap, reason: 'retention' | 'unknown') {
    const fields = { after, missing: next - after - 1, reason };
    count(reason);
    taps?.all({ partition, sequenceNumber: next })?.('gap', fields);
    troubles.raise(`partition ${partition}: gap, ${reason}`, {
      level: 'warn',
      message: 'events of the partition are missing',
      fields: { partition, ...fields },
    });
  }

  function reportAll(oldest: number) {
    const all = asked;
    asked = [];
    for (const gap of all) report(gap, oldest >= gap.next ? 'retention' : 'unknown');
  }

  async function ask() {
    isAsking = true;
    while (waiting.length > 0) {
      [asked, waiting] = [waiting, []];
      reportAll(await oldestOf().catch(() => 0));
      await new Promise<void>((resolve) => setTimeout(resolve, everyMs).unref());
    }
    isAsking = false;
  }

  return {
    report(gap) {
      if (waiting.length === mostWaiting) report(gap, 'unknown');
      else waiting.push(gap);
      if (!isAsking) void ask();
    },
    close() {
      asked.push(...waiting);
      waiting = [];
      reportAll(0);
    },
  };
}
