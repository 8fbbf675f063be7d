import type { Table } from '../persistence/table.ts';
import { createLockedQueue, type DeliveryHistory, type LockedQueue, type QueueRules } from './queue.ts';

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

export type FeedbackStatus = 'Success' | 'Rejected' | 'Expired' | 'DeliveryCountExceeded' | 'Purged';

/** Some records that travel in one message. */
export interface FeedbackBatch {
  /** The order in which it was put together. */
  id: number;
  records: FeedbackRecord[];
  /** Milliseconds since 1970. */
  enqueuedTime: number;
  /** Of the records as JSON. */
  bytes: number;
}

/** Feedback as it is stored on disk: a record that is not yet in a message, or a message of records. */
export type StoredFeedback = FeedbackRecord | (FeedbackBatch & DeliveryHistory);

/** How feedback is put together. */
export interface FeedbackRules extends QueueRules {
  /** Records in a message at most. */
  batch: number;
  /** How long after the last message the next one leaves, if it is not full before, in milliseconds. */
  everyMs: number;
}

/** What IoT Hub has: a message 15 seconds after the one before, or with 64 records; the first at once; its queue is like that of a device. */
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
  /** Lose all of it. */
  lose(): void;
  close(): void;
}

/** Feedback in memory, and in `table` if there is one, of at most so many bytes: the oldest goes. */
export function createFeedback(options: {
  rules: FeedbackRules;
  bytes: number;
  now: () => number;
  table?: Table<StoredFeedback> | undefined;
}): Feedback {
  const { rules, bytes: most, now, table } = options;
  let records: { id: number; record: FeedbackRecord }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let lastSent = Number.NEGATIVE_INFINITY;
  let last = 0;
  let closed = false;

  const queue = createLockedQueue<FeedbackBatch>({
    rules,
    now,
    bound: { bytes: most, of: ({ bytes }) => bytes },
    onChange: (batch, { abandoned, handed }) => table?.put(String(batch.id), { ...batch, abandoned, handed }),
    onOutcome: ({ id }) => table?.delete(String(id)),
  });

  const send = (): void => {
    clearTimeout(timer);
    timer = undefined;
    lastSent = now();
    last += 1;
    const listed = records.map(({ record }) => record);
    const bytes = Buffer.byteLength(JSON.stringify(listed));
    const batch = { id: last, records: listed, enqueuedTime: lastSent, bytes };
    table?.put(String(last), { ...batch, abandoned: 0, handed: false });
    for (const { id } of records) table?.delete(String(id));
    records = [];
    queue.add(batch);
  };
  const sendInTime = (): void => {
    if (records.length >= rules.batch && !closed) send();
    else if (!closed) timer ??= setTimeout(send, Math.max(0, lastSent + rules.everyMs - now())).unref();
  };

  for (const [key, stored] of table?.entries() ?? []) {
    const id = Number(key);
    last = Math.max(last, id);
    if ('records' in stored) {
      const { abandoned, handed, ...batch } = stored;
      queue.add(batch, batch.enqueuedTime + rules.timeToLiveMs, { abandoned, handed });
    } else records.push({ id, record: stored });
  }
  if (records.length > 0) sendInTime();

  return {
    add(given) {
      const enqueuedTimeUtc = new Date(now()).toISOString();
      const record = { ...given, description: given.statusCode, enqueuedTimeUtc };
      last += 1;
      table?.put(String(last), record);
      records.push({ id: last, record });
      sendInTime();
    },
    queue,
    lose() {
      clearTimeout(timer);
      timer = undefined;
      for (const [id] of table?.entries() ?? []) table?.delete(id);
      records = [];
      queue.clear();
    },
    close() {
      closed = true;
      clearTimeout(timer);
      queue.clear();
    },
  };
}
