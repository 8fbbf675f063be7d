import { tmpdir } from 'node:os';
import { createBudget } from '../../../src/engine/budget/budget.ts';
import { openSpool } from '../../../src/engine/spool/spool.ts';
import { createLog } from '../../../src/log/log.ts';
import type { HubEvent } from '../../../src/protocol/event.ts';
import { bodyBytes } from '../../support/events.ts';

/** How an instance reads the hub, for tests that are about something else. */
export const usualReading = {
  consumerGroup: '$Default',
  startPosition: 'earliest',
  batchSize: 10,
  prefetch: 50,
  maxWaitSeconds: 1,
  silentMs: 8_000,
  answerMs: 20_000,
  drainMs: 500,
  roundMs: 100,
  balance: { expiryMs: 20_000, forceMs: 40_000 },
  log: createLog('silent'),
} as const;

/** What it gives to each partition besides the work on messages. All of them come from one device. */
export const usualOpened = (maxMessages = 100) => ({
  budget: createBudget({ maxMessages, maxBytes: 1e6 }),
  spool: openSpool(tmpdir(), `spool-${process.pid}-${Math.random()}`, { maxBytes: 1e6, maxMessages: 1e5 }),
  costOf: bodyBytes,
  arrivalOf: (event: HubEvent) => ({ event, deviceId: 'd1' }),
  limits: { everyMessages: 1, everyMs: 1_000, deviceMessages: 16 },
});
