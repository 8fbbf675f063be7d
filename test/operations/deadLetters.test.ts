import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDeadLetters, type DeadLetterLimits, type Letter } from '../../src/operations/deadLetters.ts';
import { chosen, replay } from '../../src/operations/replay.ts';
import { hubEvent } from '../support/events.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'letters-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const open = (limits: Partial<DeadLetterLimits> = {}) =>
  createDeadLetters(directory, { deviceLetters: 10, maxLetters: 100, retentionMs: 3_600_000, ...limits }, Date.now);

const letter = (sequenceNumber: number, more: Partial<Letter> = {}): Letter => ({
  deviceId: 'd1',
  generation: 'V2',
  origin: { hub: 'hub', partition: '0' },
  event: hubEvent({
    sequenceNumber,
    properties: { msgType: 'action', n: String(sequenceNumber) },
    body: Buffer.from([0, 255, sequenceNumber]),
  }),
  code: 'timeout_exceeded',
  details: 'why',
  parkedAt: new Date('2026-01-02T03:04:05.678Z'),
  attempts: 1,
  traceparent: '00-1-2-01',
  ...more,
});
const numbers = async (letters: ReturnType<typeof open>) =>
  (await letters.list()).map((one) => one.letter.event.sequenceNumber);

describe('the dead-letter store', () => {
  it('gives back a letter byte for byte', async () => {
    const kept = letter(7);
    await open().park(kept);
    const [filed] = await open().list();
    expect(filed?.letter).toMatchObject({ ...kept, event: { ...kept.event, properties: { n: '7' } } });
    expect(Buffer.from(filed?.letter.event.body as Uint8Array).equals(Buffer.from([0, 255, 7]))).toBe(true);
  });

  it('lists each device’s letters in the order of the hub, whenever they were parked', async () => {
    const letters = open();
    for (const number of [30, 4, 100]) await letters.park(letter(number));
    expect(await numbers(letters)).toEqual([4, 30, 100]);
  });

  it('keeps one letter for a message that is parked again', async () => {
    const letters = open();
    await letters.park(letter(1));
    await letters.park(letter(1, { attempts: 2 }));
    expect((await letters.list()).map((one) => one.letter.attempts)).toEqual([2]);
  });

  it('lets the oldest of a device make room, and no other device', async () => {
    const letters = open({ deviceLetters: 3 });
    await letters.park(letter(1, { deviceId: 'quiet' }));
    for (const number of [1, 2, 3, 4, 5]) await letters.park(letter(number));
    const all = await letters.list();
    expect(all.filter((one) => one.letter.deviceId === 'd1').map((one) => one.letter.event.sequenceNumber)).toEqual([
      3, 4, 5,
    ]);
    expect(all.filter((one) => one.letter.deviceId === 'quiet')).toHaveLength(1);
  });

  it('never holds more than its limit in all', async () => {
    const letters = open({ maxLetters: 3 });
    for (const device of ['a', 'b', 'c', 'd', 'e']) await letters.park(letter(1, { deviceId: device }));
    expect(await letters.list()).toHaveLength(3);
  });

  it('deletes what is older than its retention', async () => {
    await open().park(letter(1));
    const [folder = ''] = readdirSync(directory);
    const [file = ''] = readdirSync(join(directory, folder));
    utimesSync(join(directory, folder, file), 0, 0);
    expect(await open().list()).toEqual([]);
    expect(readdirSync(join(directory, folder))).toEqual([]);
  });

  it('is readable by its owner alone, and a hostile device id is no path', async () => {
    await open().park(letter(1, { deviceId: '../../etc/passwd' }));
    const [folder = ''] = readdirSync(directory);
    const [file = ''] = readdirSync(join(directory, folder));
    expect(folder).toMatch(/^[0-9a-f]{32}$/);
    expect(statSync(join(directory, folder, file)).mode & 0o777).toBe(0o600);
    expect(statSync(join(directory, folder)).mode & 0o777).toBe(0o700);
  });

  it('is empty before the first letter', async () => {
    expect(
      await createDeadLetters(
        join(directory, 'none'),
        { deviceLetters: 1, maxLetters: 1, retentionMs: 1 },
        Date.now,
      ).list(),
    ).toEqual([]);
  });
});

describe('choosing letters', () => {
  const all = [
    { id: '1', letter: letter(1) },
    {
      id: '2',
      letter: letter(2, { deviceId: 'd2', code: 'internal_platform_error', parkedAt: new Date('2026-02-01') }),
    },
  ];
  it.each([
    [{ device: 'd2' }, ['2']],
    [{ code: 'timeout_exceeded' }, ['1']],
    [{ since: new Date('2026-01-15') }, ['2']],
    [{}, ['1', '2']],
    [{ device: 'd1', code: 'internal_platform_error' }, []],
  ])('by %j', (choice, expected) => {
    expect(
      chosen(all, { device: undefined, code: undefined, since: undefined, ...choice }).map(({ id }) => id),
    ).toEqual(expected);
  });
});

describe('replaying', () => {
  it('handles letters in order, deletes what succeeds and keeps what is parked again', async () => {
    const deadLetters = open();
    for (const number of [1, 2, 3]) await deadLetters.park(letter(number));
    const counters = { parked: 0 };
    const seen: [number, number | undefined][] = [];
    const result = await replay(
      await deadLetters.list(),
      {
        deadLetters,
        counters,
        async dispatch({ event, attempts }) {
          seen.push([event.sequenceNumber, attempts]);
          if (event.sequenceNumber === 2) counters.parked += 1;
          return event.sequenceNumber !== 3;
        },
      },
      () => {},
    );
    expect(seen).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
    ]);
    expect(result).toEqual({ handled: 1, failed: 2 });
    expect(await numbers(deadLetters)).toEqual([2, 3]);
  });
});
