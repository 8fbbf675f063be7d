import { readdirSync } from 'node:fs';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { openSpool, type Spool, type Ticket } from '../../src/engine/spool/spool.ts';
import { hubEvent } from '../support/events.ts';

const mebibyte = 1024 * 1024;
const directory = folderForEach('spool');
let spool: Spool;
afterEach(() => spool.close());

const open = (maxBytes: number, maxMessages = 1_000) => {
  spool = openSpool(directory, 'one', { maxBytes, maxMessages });
};
const message = (sequenceNumber: number, bytes: number) =>
  hubEvent({ sequenceNumber, body: Buffer.alloc(bytes, sequenceNumber) });

/** Puts a message for which there must be room. */
function put(sequenceNumber: number, bytes: number): Ticket {
  const ticket = spool.put(message(sequenceNumber, bytes));
  if (ticket === undefined) throw new Error(`no room for message ${sequenceNumber}`);
  return ticket;
}

describe('the spool', () => {
  it('has no readable file, even while it is open', () => {
    open(mebibyte);
    put(1, 1000);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('returns the stored messages, in any order (100 random sequences)', async () => {
    const step = fc.oneof(fc.record({ put: fc.integer({ min: 0, max: 700_000 }) }), fc.record({ take: fc.nat() }));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        open(4 * mebibyte, 10);
        const waiting: { ticket: Ticket; number: number; bytes: number }[] = [];
        for (const [number, one] of steps.entries()) {
          if ('put' in one) {
            const ticket = spool.put(message(number, one.put));
            if (ticket) waiting.push({ ticket, number, bytes: one.put });
            else expect(waiting.length).toBeGreaterThan(3);
          } else if (waiting.length > 0) {
            const [taken] = waiting.splice(one.take % waiting.length, 1);
            if (taken === undefined) continue;
            const { sequenceNumber, body } = await spool.take(taken.ticket);
            expect(sequenceNumber).toBe(taken.number);
            expect(Buffer.compare(body as Buffer, Buffer.alloc(taken.bytes, taken.number))).toBe(0);
          }
        }
        spool.close();
      }),
      { numRuns: 100 },
    );
    open(1);
  });

  it('reuses the room of a fast device while a slow one still has messages in it', async () => {
    open(3 * mebibyte);
    const slow = put(0, 100);
    for (let number = 1; number <= 500; number += 1) await spool.take(put(number, 100_000));
    expect(await spool.take(slow)).toMatchObject({ sequenceNumber: 0 });
  });

  it('never overwrites waiting messages, even if their segment was empty in between', async () => {
    open(3 * mebibyte);
    const slow = put(0, 600_000);
    await spool.take(put(1, 600_000));
    const waiting = [put(2, 600_000), slow, put(3, 600_000)];
    const numbers: number[] = [];
    for (const ticket of waiting) numbers.push((await spool.take(ticket)).sequenceNumber);
    expect(numbers).toEqual([2, 0, 3]);
  });

  it('reuses a segment once when it is empty', async () => {
    open(2 * mebibyte);
    const tickets = [1, 2, 3, 4, 5, 6].map((number) => put(number, 300_000));
    const isFull = () => spool.put(message(10, 300_000)) === undefined;
    for (const ticket of tickets.splice(0, 3)) {
      expect(isFull()).toBe(true);
      await spool.take(ticket);
    }
    tickets.push(...[7, 8, 9].map((number) => put(number, 300_000)));
    expect(isFull()).toBe(true);
    const numbers: number[] = [];
    for (const ticket of tickets) numbers.push((await spool.take(ticket)).sequenceNumber);
    expect(numbers).toEqual([4, 5, 6, 7, 8, 9]);
  });

  it('returns all parts of an event', async () => {
    open(mebibyte);
    const event = hubEvent({ properties: { action: 'model.update', n: 7 }, body: '{}', device: 'pump-1' });
    const ticket = spool.put(event);
    expect(ticket && (await spool.take(ticket))).toEqual(event);
  });

  it('is empty when all messages have been taken', async () => {
    open(3 * mebibyte);
    for (let round = 0; round < 3; round += 1) {
      const tickets = [1, 2, 3].map((number) => put(number, 600_000));
      expect(spool.put(message(4, 600_000))).toBeUndefined();
      expect(spool.taken()).toEqual({ messages: 3, bytes: tickets.reduce((sum, { length }) => sum + length, 0) });
      for (const ticket of tickets.reverse()) await spool.take(ticket);
      expect(spool.taken()).toEqual({ messages: 0, bytes: 0 });
    }
  });

  it('is full at its limit of bytes, and has room when they are released', async () => {
    open(2 * mebibyte);
    const tickets = [1, 2, 3, 4].map((number) => put(number, 500_000));
    expect(spool.put(message(5, 500_000))).toBeUndefined();
    for (const ticket of tickets.slice(0, 2)) await spool.take(ticket);
    put(5, 500_000);
  });

  it('returns nothing after it is closed', async () => {
    open(2 * mebibyte);
    const ticket = put(1, 1000);
    const taking = expect(spool.take(ticket)).rejects.toThrow();
    spool.close();
    await taking;
    expect(() => spool.take(ticket)).toThrow('the spool is closed');
    open(1);
  });

  it('accepts a message of exactly a mebibyte, and two of that size together, but no larger one', async () => {
    open(4 * mebibyte);
    const most = 1_000_000 + mebibyte - put(1, 1_000_000).length;
    const half = mebibyte / 2 - (mebibyte - most);
    spool.close();
    open(2 * mebibyte);
    const tickets = [put(1, most), put(2, half), put(3, half)];
    expect(tickets.map(({ length }) => length)).toEqual([mebibyte, mebibyte / 2, mebibyte / 2]);
    for (const [index, ticket] of tickets.entries()) {
      expect(await spool.take(ticket)).toMatchObject({ sequenceNumber: index + 1 });
    }
    expect(spool.put(message(4, most + 1))).toBeUndefined();
  });

  it('is full when it holds its number of messages, however small', async () => {
    open(mebibyte, 2);
    const first = put(1, 1);
    put(2, 1);
    expect(spool.put(message(3, 1))).toBeUndefined();
    await spool.take(first);
    put(3, 1);
  });
});
