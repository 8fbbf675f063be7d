import { describe, expect, it, vi } from 'vitest';
import type { Dependencies } from '../../src/engine/lanes.ts';
import { createTurnstile } from '../../src/engine/quarantine.ts';
import { createLog } from '../../src/observing/log.ts';
import { beginStep } from '../../src/observing/observation.ts';
import { courseOf } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { budgetOf, events, partitionByHand, partitionWith } from './support/partitions.ts';

withFakeTimers();

describe('the partition state for operators', () => {
  it('is empty before the first message and after the last', async () => {
    const { partition, end } = partitionByHand();
    const empty = { inFlight: 0, sleeping: 0, waiting: 0, devices: 0, oldest: undefined, suspects: 0 };
    const state = { sequenceNumber: undefined, ageSeconds: 0, failures: 0, isFailing: false, unwritten: 0 };
    expect(partition.contents()).toEqual({ ...empty, checkpoint: state });
    await partition.admit(events('a1'));
    await end(1);
    await partition.drain(0);
    expect(partition.contents()).toEqual({ ...empty, checkpoint: { ...state, sequenceNumber: 1 } });
  });

  it('has the messages in flight, those that wait, and the number of their devices', async () => {
    const { partition } = await partitionWith('a1 a2 a3 b4');
    expect(partition.contents()).toMatchObject({ inFlight: 2, sleeping: 0, waiting: 2, devices: 2 });
  });

  it('has the oldest unfinished message of all devices', async () => {
    const { partition, end } = await partitionWith('b1');
    const readAt = performance.now();
    await vi.advanceTimersByTimeAsync(1_000);
    await partition.admit(events('a2 b3'));
    expect(partition.contents().oldest).toEqual({ device: 'b', sequenceNumber: 1, readAt });
    await end(1);
    expect(partition.contents().oldest).toEqual({ device: 'a', sequenceNumber: 2, readAt: readAt + 1_000 });
    await end(2);
    expect(partition.contents().oldest).toMatchObject({ device: 'b', sequenceNumber: 3 });
  });
});

const settle = () => vi.advanceTimersByTimeAsync(0);

describe('the device state for operators', () => {
  it('has the oldest message, its step, and the number of messages', async () => {
    const { partition, stays, end } = await partitionWith('a1 a2 a3 b4');
    const observation = courseOf();
    stays[0]?.begins?.(observation);
    const step = beginStep(observation.open, 'call', 'replace object model', 'information model');
    step.waitsFor = 'answer';
    expect(partition.devices(undefined).map(({ device }) => device)).toEqual(['a', 'b']);
    expect(partition.devices('a')).toEqual([
      {
        ...{ device: 'a', messages: 3, sequenceNumber: 1, readAt: performance.now(), begunAt: performance.now() },
        ...{ state: 'in flight', needs: [], steps: [step] },
      },
    ]);
    await end(1);
    expect(partition.devices('a')).toMatchObject([{ messages: 2, sequenceNumber: 2, begunAt: undefined, steps: [] }]);
    expect(partition.devices('c')).toEqual([]);
  });

  it('shows that it waits for room in the budget', async () => {
    const { partition, end } = partitionByHand({ budget: budgetOf(1) });
    void partition.admit(events('a1 a2 b3'));
    await settle();
    await end(1);
    expect(partition.devices(undefined)).toMatchObject([
      { device: 'a', sequenceNumber: 2, state: 'waits for room', begunAt: undefined },
      { device: 'b', sequenceNumber: 3, state: 'in flight' },
    ]);
  });

  it('shows that it waits for room behind another device', async () => {
    const { partition, budget, end } = await partitionWith('a1 b2 a3 b4', { budget: budgetOf(2) });
    for (let places = 0; places < 2; places += 1) void budget.all.take(1);
    await end(1);
    await end(2);
    expect(partition.devices(undefined)).toMatchObject([
      { device: 'a', sequenceNumber: 3, state: 'waits for room' },
      { device: 'b', sequenceNumber: 4, state: 'waits for room' },
    ]);
  });

  it('shows the backends that it waits for', async () => {
    const dependencies: Dependencies = {
      needs: ['informationModel'],
      areAvailable: () => false,
      met: () => new Promise(() => {}),
    };
    const { partition } = await partitionWith('a1 a2', { dependenciesOf: () => dependencies });
    expect(partition.devices('a')).toMatchObject([
      { messages: 2, state: 'waits for backends', needs: ['informationModel'] },
    ]);
  });

  it('shows that it waits for an isolated run, because it may have ended the process (G4)', async () => {
    const { partition, stays, end } = partitionByHand({
      progress: { sequenceNumber: -1, offset: '-1', completed: '', note: '2 2 1 - -' },
      quarantine: { mostSuspects: 10, turnstile: createTurnstile(), log: createLog('silent') },
    });
    await partition.admit(events('a0'));
    await settle();
    await partition.admit(events('b1'));
    await settle();
    stays[0]?.begins?.(courseOf());
    expect(partition.devices(undefined)).toMatchObject([
      { device: 'a', state: 'in flight' },
      { device: 'b', state: 'waits for its turn' },
    ]);
    expect(partition.contents().suspects).toBe(2);
    await end(0);
    await settle();
    expect(partition.contents().suspects).toBe(1);
  });
});
