import { describe, expect, it, vi } from 'vitest';
import type { HubEvent } from '../../src/protocol/event.ts';
import { hubEvent } from '../support/events.ts';
import { signal, soon, withFakeTimers } from '../support/waiting.ts';
import { budgetOf, events, limits, partitionByHand } from './support/partitions.ts';
import { diskSpool } from './support/spools.ts';

withFakeTimers();

describe('a device that floods', () => {
  const flood = Array.from({ length: 20 }, (_, index) => `a${index + 1}`).join(' ');

  it('takes one slot of the budget, so that other devices continue', async () => {
    const { partition, started, budget } = partitionByHand({ limits: { ...limits, deviceMessages: 3 } });
    await partition.admit(events(`${flood} b21`));
    expect(started).toEqual([1, 21]);
    expect([budget.inFlight().messages, budget.waiting.taken().messages]).toEqual([2, 2]);
  });

  it('is charged for its messages that wait in memory, with bodies, names and values of properties', async () => {
    async function charged(properties: object, body: unknown) {
      const { partition, budget } = partitionByHand({ costOf: () => 1 });
      const sent = { ...hubEvent({ properties: { device: 'a', ...properties } }), body };
      await partition.admit([1, 2, 3].map((sequenceNumber) => ({ ...sent, sequenceNumber })));
      return budget.waiting.taken();
    }
    const bare = await charged({}, { parsed: true });
    expect(bare.messages).toBe(2);
    expect(bare.bytes).toBeGreaterThan(2 * 'devicea'.length);
    const more = await charged({ name: 'text', n: 7 }, Buffer.alloc(500));
    expect(more.bytes - bare.bytes).toBe(2 * ('nametextn'.length + 500));
  });

  it('keeps its order through the spool, bodies and properties intact', async () => {
    vi.useRealTimers();
    const seen: HubEvent[] = [];
    const { partition } = partitionByHand({
      limits: { ...limits, deviceMessages: 3 },
      arrivalOf: (event) => ({ event, deviceId: 'a' }),
      async dispatch({ event }) {
        seen.push(event);
        await new Promise((resolve) => setImmediate(resolve));
        return true;
      },
    });
    const sent = Array.from({ length: 50 }, (_, index) =>
      hubEvent({ sequenceNumber: index, properties: { n: index }, body: { index } }),
    );
    await partition.admit(sent);
    await vi.waitFor(() => expect(seen).toHaveLength(50), soon);
    const told = ({ sequenceNumber, body, properties, systemProperties }: HubEvent) => [
      sequenceNumber,
      Buffer.from(body as Uint8Array).toString(),
      properties,
      systemProperties,
    ];
    expect(seen.map(told)).toEqual(sent.map(told));
  });

  it('cannot fill the budget with messages behind its spool, which would be a deadlock', async () => {
    const { given: slowDisk, give: release } = signal();
    const disk = diskSpool();
    const { partition, started, end } = partitionByHand({
      budget: budgetOf(3),
      limits: { ...limits, deviceMessages: 2 },
      spool: { ...disk, take: (ticket) => slowDisk.then(() => disk.take(ticket)) },
    });
    for (const [device, first] of [...'abc'].map((name, index) => [name, index * 3 + 1] as const)) {
      await partition.admit(events(`${device}${first} ${device}${first + 1} ${device}${first + 2}`));
      await end(first);
      await end(first + 1);
    }
    await partition.admit(events('a10 b11 c12'));
    vi.useRealTimers();
    release();
    await vi.waitFor(() => expect([...started].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]), soon);
  });

  it('blocks its partition only when the spool is full', async () => {
    const { partition, started, end } = partitionByHand({
      limits: { ...limits, deviceMessages: 2 },
      spool: diskSpool(1_000),
    });
    let admitted = false;
    void partition.admit(events(`${flood} b21`)).then(() => (admitted = true));
    await vi.advanceTimersByTimeAsync(0);
    expect([started, admitted]).toEqual([[1], false]);
    await end(1);
    expect(started).toContain(2);
  });
});
