import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { type EventLine, openEventLine } from '../../src/hub/reading/eventLine.ts';
import type { Tenure } from '../../src/hub/reading/tenure.ts';
import { createTroubles } from '../../src/troubles.ts';

const silentMs = 11_000;
const open: EventLine[] = [];
afterEach(() => Promise.all(open.splice(0).map((line) => line.close())));

function newLine(): EventLine {
  const connectionString =
    'Endpoint=sb://127.0.0.1:1;SharedAccessKeyName=x;SharedAccessKey=y;EntityPath=hub;UseDevelopmentEmulator=true';
  const log = pino({ level: 'silent' });
  const line = openEventLine({
    connectionString,
    consumerGroup: '$Default',
    silentMs,
    log,
    troubles: createTroubles(log),
  });
  open.push(line);
  return line;
}

/** A partition that was subscribed to, and last heard of, so long ago. */
function tenure(silentForMs: number, deafForMs: number, isTakingIn = false) {
  const restarts: unknown[] = [];
  const reader = {
    silentForMs: () => silentForMs,
    deafForMs: () => deafForMs,
    unansweredForMs: () => deafForMs,
    isTakingIn: () => isTakingIn,
    restart: (client: unknown) => restarts.push(client),
  };
  return { restarts, tenure: { record: { partition: '0' }, reader } as unknown as Tenure };
}

const reviving = (...given: ReturnType<typeof tenure>[]) => {
  const line = newLine();
  const before = line.client();
  line.revive(given.map((one) => one.tenure));
  return { isReplaced: line.client() !== before, restarts: given.map(({ restarts }) => restarts.length) };
};

it('subscribes again to a partition that is silent while others are heard', () => {
  expect(reviving(tenure(12_000, 12_000), tenure(1_000, 1_000))).toEqual({ isReplaced: false, restarts: [1, 0] });
});

it('replaces the connection when nothing is heard on it', () => {
  expect(reviving(tenure(12_000, 12_000), tenure(12_000, 12_000))).toEqual({ isReplaced: true, restarts: [1, 1] });
  expect(reviving(tenure(12_000, 12_000), tenure(0, 0, true))).toEqual({ isReplaced: true, restarts: [1, 1] });
});

it('replaces the connection also when its partitions have fallen silent at different times', () => {
  expect(reviving(tenure(3_000, 15_000), tenure(12_000, 12_000))).toEqual({ isReplaced: true, restarts: [1, 1] });
});

it('leaves all as it is while everything is heard', () => {
  expect(reviving(tenure(2_000, 2_000), tenure(10_000, 30_000))).toEqual({ isReplaced: false, restarts: [0, 0] });
});
