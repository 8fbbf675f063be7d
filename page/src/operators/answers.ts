/** What the paths of the admin port answer, as far as the page shows it. */

export interface Partition {
  readonly partition: string;
  readonly state: string;
  readonly behindSeconds: number | null;
  /** Sequence number of the last event read. */
  readonly position: number;
  readonly inFlight?: number;
  readonly waiting?: number;
  readonly oldest?: { readonly sequenceNumber: number; readonly seconds: number };
  readonly checkpoint: {
    readonly sequenceNumber?: number;
    readonly ageSeconds: number;
    readonly unwritten?: number;
    readonly isFailing?: boolean;
  };
}

export interface Partitions {
  readonly instance: string;
  readonly total: Readonly<Record<string, number>>;
  readonly partitions: readonly Partition[];
  readonly elsewhere: readonly { readonly partition: string; readonly owner: string; readonly renewedAt: string }[];
}

export interface Backend {
  readonly circuit: 'open' | 'closed';
  readonly outage?: { readonly failure: string; readonly since: string; readonly seconds: number };
  readonly connections: Readonly<Record<string, number>>;
  readonly oldestMs: number;
}

export interface Trouble {
  readonly event: string;
  readonly level: 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly times: number;
  readonly forSeconds: number;
}

export interface WaitingDevice {
  readonly device: string;
  readonly partition: string;
  readonly messages: number;
  readonly oldest: { readonly sequenceNumber: number; readonly readAt: string; readonly seconds: number };
  readonly state: string;
  readonly waitsFor: string;
  readonly doesNotFetch?: boolean;
}

export interface DeadLetter {
  readonly id: string;
  readonly device: string;
  readonly message: string;
  readonly code: string;
  readonly details: string;
  readonly attempts: number;
  readonly parkedAt: string;
}

/** Seconds for people. */
export function shownSeconds(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return 'not known';
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}
