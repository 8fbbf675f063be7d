import { describe, expect, it, vi } from 'vitest';
import { hubEvent } from '../support/events.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { backlogOf, events, partitionByHand } from './support/partitions.ts';

withFakeTimers();

describe('a device that floods', () => {
  const flood = Array.from({ length: 20 }, (_, index) => `a${index + 1}`).join(' ');

  it('takes one slot of the budget, so that other devices continue', async () => {
    const { partition, started, budget, backlog } = partitionByHand();
    await partition.admit(events(`${flood} b21`));
    expect([started, budget.inFlight().messages, backlog.taken().messages]).toEqual([[1, 21], 2, 19]);
  });

  it('is charged for its messages that wait in memory, with bodies, names and values of properties', async () => {
    async function charged(properties: object, body: unknown) {
      const { partition, backlog } = partitionByHand({ costOf: () => 1 });
      const sent = { ...hubEvent({ properties: { device: 'a', ...properties } }), body };
      await partition.admit([1, 2, 3].map((sequenceNumber) => ({ ...sent, sequenceNumber })));
      return backlog.taken();
    }
    const bare = await charged({}, undefined);
    expect(bare.messages).toBe(2);
    expect(bare.bytes).toBeGreaterThan(2 * 'devicea'.length);
    const more = await charged({ name: 'text', n: 7 }, Buffer.alloc(500));
    const content = 'nametextn'.length + 500;
    expect(more.bytes - bare.bytes).toBeGreaterThanOrEqual(2 * content);
    expect(more.bytes - bare.bytes).toBeLessThan(2 * (content + 200));
  });

  it('blocks its partition only when there is no more room to wait', async () => {
    const { partition, started, end } = partitionByHand({ backlog: backlogOf(8) });
    let admitted = false;
    void partition.admit(events(`${flood} b21`)).then(() => (admitted = true));
    await vi.advanceTimersByTimeAsync(0);
    expect([started, admitted]).toEqual([[1], false]);
    for (let ended = 1; ended < 16; ended += 1) {
      expect(admitted).toBe(false);
      await end(ended);
    }
    expect([started.at(-1), admitted]).toEqual([21, true]); // four of the flood still wait
  });
});
