import { createLockedQueue, type LockedQueue, type QueueRules } from './queue.ts';

/** What became of a cloud-to-device message, in the words in which services get it. */
export interface FeedbackRecord {
  originalMessageId: string;
  description: FeedbackStatus;
  statusCode: FeedbackStatus;
  deviceId: string;
  deviceGenerationId: string;
  /** ISO 8601. */
  enqueuedTimeUtc: string;
}

export type FeedbackStatus = 'Success' | 'Rejected' | 'Expired' | 'DeliveryCountExceeded';

/** Some records that travel in one message. */
export interface FeedbackBatch {
  records: FeedbackRecord[];
  /** Milliseconds since 1970. */
  enqueuedTime: number;
  /** Of the records as JSON. */
  bytes: number;
}

/** How feedback is put together. */
export interface FeedbackRules extends QueueRules {
  /** Records in a message at most. */
  batch: number;
  /** How long the first record of a message waits for others, in milliseconds. */
  everyMs: number;
}

/** What IoT Hub has: a message every 15 seconds, or with 64 records; its queue is like that of a device. */
export const feedbackRules: FeedbackRules = {
  batch: 64,
  everyMs: 15_000,
  timeToLiveMs: 3600 * 1000,
  lockMs: 60_000,
  deliveries: 10,
};

/** Feedback about messages, on its way to the services that ask for it. */
export interface Feedback {
  add(record: Omit<FeedbackRecord, 'enqueuedTimeUtc' | 'description'>): void;
  /** The batches; all receivers share them. */
  readonly queue: LockedQueue<FeedbackBatch>;
  close(): void;
}

/** Feedback in memory, of at most so many bytes: the oldest goes. */
export function createFeedback(rules: FeedbackRules, bytes: number, now: () => number): Feedback {
  const bound = { bytes, of: (batch: FeedbackBatch) => batch.bytes };
  const queue = createLockedQueue<FeedbackBatch>({ rules, now, onOutcome: () => undefined, bound });
  let records: FeedbackRecord[] = [];
  let timer: NodeJS.Timeout | undefined;

  const send = (): void => {
    clearTimeout(timer);
    timer = undefined;
    queue.add({ records, enqueuedTime: now(), bytes: Buffer.byteLength(JSON.stringify(records)) });
    records = [];
  };

  return {
    add(record) {
      const enqueuedTimeUtc = new Date(now()).toISOString();
      records.push({ ...record, description: record.statusCode, enqueuedTimeUtc });
      if (records.length >= rules.batch) send();
      else timer ??= setTimeout(send, rules.everyMs).unref();
    },
    queue,
    close() {
      clearTimeout(timer);
      queue.clear();
    },
  };
}
