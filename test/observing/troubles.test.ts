import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createTroubles, currentTroubles } from '../../src/observing/log.ts';
import { recordingLog } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';

withFakeTimers();

let log: ReturnType<typeof recordingLog>;
let troubles: ReturnType<typeof createTroubles>;
beforeEach(() => {
  log = recordingLog();
  troubles = createTroubles(log);
});
afterEach(() => troubles.close());

const refused = (attempt: number) =>
  ({ level: 'warn', message: 'the hub cannot be read', fields: { attempt } }) as const;

it('a trouble has one line at the start, one each minute with a count and the latest, and one at the end', async () => {
  for (let attempt = 1; attempt <= 150; attempt += 1) {
    troubles.raise('hub', refused(attempt));
    await vi.advanceTimersByTimeAsync(1000);
  }
  troubles.clear('hub', 'the hub can be read again', { host: 'h' });
  expect(log.lines).toEqual([
    { level: 'warn', message: 'the hub cannot be read', fields: { attempt: 1 } },
    { level: 'warn', message: 'the hub cannot be read', fields: { attempt: 60, times: 59, forSeconds: 60 } },
    { level: 'warn', message: 'the hub cannot be read', fields: { attempt: 120, times: 60, forSeconds: 120 } },
    { level: 'info', message: 'the hub can be read again', fields: { host: 'h', times: 150, forSeconds: 150 } },
  ]);
  await vi.advanceTimersByTimeAsync(300_000);
  expect([log.lines.length, vi.getTimerCount()]).toEqual([4, 0]);
});

it('a trouble has its cause and remedy in each line except the last', async () => {
  const about = { level: 'warn', fields: { partition: '3' }, diagnosis: { todo: 'create it' } } as const;
  troubles.raise('hub', { ...about, message: 'the hub cannot be read', still: () => ({}) });
  troubles.raise('store', { ...about, message: 'backend is out, calls to it wait' });
  await vi.advanceTimersByTimeAsync(120_000);
  troubles.clear('hub', 'the hub can be read again');
  const told = (message: string) => log.lines.filter((line) => line.message === message).map(({ fields }) => fields);
  const ends = ['the hub can be read again', 'trouble is over'].flatMap(told);
  expect(ends).toMatchObject([{ partition: '3' }, { partition: '3' }]);
  expect(ends.filter((fields) => 'todo' in fields)).toEqual([]);
  const lasting = ['the hub cannot be read', 'backend is out, calls to it wait'].flatMap(told);
  expect(lasting.length).toBe(4);
  for (const fields of lasting) expect(fields).toMatchObject({ partition: '3', todo: 'create it' });
});

it('a source that flaps has three starts in a minute, and then one trouble until it is quiet', async () => {
  for (let turn = 0; turn < 400; turn += 1) {
    troubles.raise('backend', { level: 'warn', message: 'backend is out, calls to it wait', still: () => ({ turn }) });
    expect(currentTroubles(log)).toHaveLength(1);
    troubles.clear('backend', 'backend is back');
    expect(currentTroubles(log)).toEqual([]);
    await vi.advanceTimersByTimeAsync(250);
  }
  expect(log.lines.length).toBeLessThan(16);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(log.lines.at(-1)).toMatchObject({ level: 'info', message: 'backend is back' });
  const lines = log.lines.length;
  await vi.advanceTimersByTimeAsync(300_000);
  expect([log.lines.length, vi.getTimerCount()]).toEqual([lines, 0]);
});

it('a trouble is logged separately for each source', async () => {
  troubles.raise('partition 0', refused(1));
  troubles.raise('partition 1', refused(2));
  troubles.raise('partition 1', refused(3));
  troubles.clear('partition 0');
  troubles.clear('partition 0');
  troubles.clear('partition 7');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(log.lines).toEqual([
    { level: 'warn', message: 'the hub cannot be read', fields: { attempt: 1 } },
    { level: 'warn', message: 'the hub cannot be read', fields: { attempt: 2 } },
    {
      level: 'info',
      message: 'trouble is over',
      fields: { trouble: 'hub.unreadable', attempt: 1, times: 1, forSeconds: 0 },
    },
    { level: 'warn', message: 'the hub cannot be read', fields: { attempt: 3, times: 1, forSeconds: 60 } },
  ]);
});

it('a trouble ends by itself after a minute without an event', async () => {
  troubles.raise('hub', refused(1));
  troubles.raise('hub', refused(2));
  await vi.advanceTimersByTimeAsync(120_000);
  expect(log.lines.slice(1)).toEqual([
    { level: 'warn', message: 'the hub cannot be read', fields: { attempt: 2, times: 1, forSeconds: 60 } },
    {
      level: 'info',
      message: 'trouble is over',
      fields: { trouble: 'hub.unreadable', attempt: 2, times: 2, forSeconds: 120 },
    },
  ]);
  expect(vi.getTimerCount()).toBe(0);
  troubles.raise('hub', refused(3));
  expect(log.lines.at(-1)).toEqual({ level: 'warn', message: 'the hub cannot be read', fields: { attempt: 3 } });
});

it('a trouble that is a state lasts until it is resolved, and each minute’s line has the current state', async () => {
  let waiting = 4;
  troubles.raise('backend', {
    level: 'error',
    message: 'backend refuses our access token',
    still: () => ({ waiting }),
  });
  await vi.advanceTimersByTimeAsync(60_000);
  waiting = 9;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(log.lines).toEqual([
    { level: 'error', message: 'backend refuses our access token', fields: {} },
    { level: 'error', message: 'backend refuses our access token', fields: { waiting: 4, times: 0, forSeconds: 60 } },
    { level: 'error', message: 'backend refuses our access token', fields: { waiting: 9, times: 0, forSeconds: 120 } },
  ]);
  troubles.close();
  await vi.advanceTimersByTimeAsync(60_000);
  expect([log.lines.length, vi.getTimerCount()]).toEqual([3, 0]);
});

it('the line of each minute has how much waits then', async () => {
  let messages = 0;
  troubles = createTroubles(log, () => ({ waiting: { messages } }));
  troubles.raise('backend', { level: 'warn', message: 'backend is out, calls to it wait', still: () => ({}) });
  messages = 17;
  await vi.advanceTimersByTimeAsync(60_000);
  troubles.clear('backend', 'backend is back');
  expect(log.lines.map(({ fields }) => fields['waiting'])).toEqual([undefined, { messages: 17 }, undefined]);
});

it('the number of sources is bounded: those beyond the bound are logged as one', async () => {
  for (let source = 0; source < 5_000; source += 1) troubles.raise(`device ${source}`, refused(source));
  expect([log.lines.length, vi.getTimerCount()]).toEqual([1_001, 1_001]);
  troubles.close();
  expect(vi.getTimerCount()).toBe(0);
});

it('of the troubles that are not over, those that began last come first, also when others are raised again', async () => {
  const others = createTroubles(log);
  for (const [part, attempt] of [
    [troubles, 1],
    [others, 2],
    [troubles, 3],
  ] as const) {
    part.raise(`source ${attempt}`, refused(attempt));
    await vi.advanceTimersByTimeAsync(1_000);
  }
  troubles.raise('source 1', refused(1));
  expect(currentTroubles(log)).toMatchObject([
    { fields: { attempt: 3 }, times: 1, forSeconds: 1 },
    { fields: { attempt: 2 }, times: 1, forSeconds: 2 },
    { fields: { attempt: 1 }, times: 2, forSeconds: 3 },
  ]);
  others.close();
});

it('a source that is known is told from the others although there are very many of them', () => {
  for (let source = 0; source < 1_002; source += 1) troubles.raise(String(source), refused(source));
  troubles.raise('0', refused(-1));
  const times = currentTroubles(log).map((one) => one.times);
  expect([times.length, times.filter((count) => count > 1)]).toEqual([1_001, [2, 2]]);
  troubles.close();
  expect(vi.getTimerCount()).toBe(0);
});
