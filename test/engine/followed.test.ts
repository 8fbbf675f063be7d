import { describe, expect, it, vi } from 'vitest';
import { createTurnstile } from '../../src/engine/quarantine.ts';
import { createLog } from '../../src/observing/log.ts';
import type { Stage } from '../../src/observing/taps.ts';
import { hubEvent } from '../support/events.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { backlogOf, budgetOf, events, partitionByHand } from './support/partitions.ts';

withFakeTimers();

/** What is told at one stage, each with the sequence number of its message. */
function followed(stage: Stage, given: Parameters<typeof partitionByHand>[0] = {}) {
  const told: [sequenceNumber: number, fields: object][] = [];
  const { partition, started, end } = partitionByHand({
    ...given,
    publisherOf:
      ({ event: { sequenceNumber } }) =>
      (now, fields) => {
        if (now === stage) told.push([sequenceNumber, fields]);
      },
  });
  return { partition, started, end, told };
}

describe('a tap on a device gets each message that was read', () => {
  const event = hubEvent({ sequenceNumber: 1, properties: { device: 'a', n: 7 }, body: 'ü' });

  it.each([
    ['its time in the hub', 1_500, 1_500],
    ['a time of zero in the hub when the clocks differ', -1_000, 0],
  ])('with %s, its bytes and its properties as text', async (_, later, hubWaitMs) => {
    vi.setSystemTime(event.enqueuedTimeUtc.getTime() + later);
    const { partition, told } = followed('read');
    await partition.admit([event]);
    expect(told).toEqual([[1, { hubWaitMs, bytes: 2, properties: { device: 'a', n: '7' } }]]);
  });

  it('without a body when its body is not binary', async () => {
    const { partition, told } = followed('read');
    await partition.admit([{ ...event, body: { parsed: true } }]);
    expect(told).toMatchObject([[1, { bytes: undefined }]]);
  });
});

describe('a tap on a device shows that a message waits', () => {
  const behind = (earlier: number) => ({ for: 'earlier messages of the device', earlier });
  const patient = (given: object) => ({
    areAvailable: () => false,
    met: () => new Promise<boolean>(() => {}),
    ...given,
  });

  it('in memory for earlier messages of its device', async () => {
    const { partition, told } = followed('waits');
    await partition.admit(events('a1 a2 a3'));
    expect(told).toEqual([
      [2, { where: 'memory', ...behind(1) }],
      [3, { where: 'memory', ...behind(2) }],
    ]);
  });

  it('in the hub for room, once, however often it tries', async () => {
    const { partition, told, started, end } = followed('waits', { backlog: backlogOf(2) });
    void partition.admit(events('a1 b2 a3 a4'));
    await vi.advanceTimersByTimeAsync(0);
    await end(2);
    expect(told.slice(1)).toEqual([[4, { where: 'hub', ...behind(2) }]]);
    await end(1);
    await end(3);
    expect(started).toEqual([1, 2, 3, 4]);
  });

  it('for a backend', async () => {
    const { partition, told } = followed('waits', { dependenciesOf: () => patient({ needs: ['informationModel'] }) });
    await partition.admit(events('a1'));
    expect(told).toEqual([[1, { where: 'memory', for: 'a backend', earlier: 0, needs: ['informationModel'] }]]);
  });

  it('for room in the budget', async () => {
    const { partition, told } = followed('waits', { budget: budgetOf(1) });
    void partition.admit(events('a1 b2'));
    await vi.advanceTimersByTimeAsync(0);
    expect(told).toEqual([[2, { where: 'memory', for: 'room', earlier: 0 }]]);
  });

  it('for an isolated run (G4)', async () => {
    const { partition, told } = followed('waits', {
      progress: { sequenceNumber: -1, offset: '-1', completed: '', note: '2 2 1 - -' },
      quarantine: { mostSuspects: 10, turnstile: createTurnstile(), log: createLog('silent') },
    });
    await partition.admit(events('a0'));
    expect(told).toEqual([[0, { where: 'memory', for: 'its turn', earlier: 0 }]]);
  });
});
