import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import type { PartitionSession } from '../../src/hub/reading/assignment.ts';
import { type EventHubConnection, openEventHubConnection } from '../../src/hub/reading/connection.ts';
import { createTroubles } from '../../src/observing/log.ts';

const silentMs = 11_000;
const open: EventHubConnection[] = [];
afterEach(() => Promise.all(open.splice(0).map((line) => line.close())));

function newLine(): EventHubConnection {
  const connectionString =
    'Endpoint=sb://127.0.0.1:1;SharedAccessKeyName=x;SharedAccessKey=y;EntityPath=hub;UseDevelopmentEmulator=true';
  const log = pino({ level: 'silent' });
  const line = openEventHubConnection({
    access: connectionString,
    consumerGroup: '$Default',
    silentMs,
    log,
    troubles: createTroubles(log),
  });
  open.push(line);
  return line;
}

/** A partition that was subscribed to, and last heard of, so long ago. */
function session(silentMs: number, deafMs: number, isTakingIn = false) {
  const restarts: unknown[] = [];
  const reader = {
    quietMs: (...signs: readonly string[]) => (signs.includes('subscribed') ? silentMs : deafMs),
    isTakingIn: () => isTakingIn,
    restart: (client: unknown) => restarts.push(client),
  };
  return { restarts, session: { record: { partition: '0' }, reader } as unknown as PartitionSession };
}

const reviving = (...given: ReturnType<typeof session>[]) => {
  const line = newLine();
  const before = line.client();
  line.revive(given.map((one) => one.session));
  return { isReplaced: line.client() !== before, restarts: given.map(({ restarts }) => restarts.length) };
};

it('a partition that is silent while others are not is subscribed again', () =>
  expect(reviving(session(12_000, 12_000), session(1_000, 1_000))).toEqual({ isReplaced: false, restarts: [1, 0] }));
it('the connection is replaced when all its partitions are silent', () => {
  expect(reviving(session(12_000, 12_000), session(12_000, 12_000))).toEqual({ isReplaced: true, restarts: [1, 1] });
  expect(reviving(session(12_000, 12_000), session(0, 0, true))).toEqual({ isReplaced: true, restarts: [1, 1] });
});
it('the connection is replaced also when its partitions became silent at different times', () =>
  expect(reviving(session(3_000, 15_000), session(12_000, 12_000))).toEqual({ isReplaced: true, restarts: [1, 1] }));
it('the connection stays while no partition is silent', () =>
  expect(reviving(session(2_000, 2_000), session(10_000, 30_000))).toEqual({ isReplaced: false, restarts: [0, 0] }));
