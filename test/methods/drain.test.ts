import { expect, it, vi } from 'vitest';
import { drain } from '../../src/methods/frontDoor.ts';
import { withFakeTimers } from '../support/waiting.ts';

// The order of a stop, and its limits (M14, D205).

withFakeTimers();

const never = new Promise<never>(() => {});

/** What happens at a stop of ten seconds, with the ms since its beginning. */
function stop(closed: Promise<unknown>, idle: Promise<void>) {
  const events: [what: string, at: number][] = [];
  const beganAt = performance.now();
  const note = (what: string) => void events.push([what, performance.now() - beganAt]);
  const drained = drain({
    drainMs: 10_000,
    handler: { stop: () => note('refuse'), abort: () => note('abort requests'), idle: () => idle },
    directMethods: { abort: () => note('abort methods') },
    server: { close: () => closed, closeAllConnections: () => note('close connections') },
    log: { warn: () => note('warn') },
  }).then(() => note('drained'));
  return { events, drained };
}

it('the drain ends as soon as all connections have ended', async () => {
  const { events, drained } = stop(Promise.resolve(), Promise.resolve());
  await drained;
  expect(events).toEqual([
    ['refuse', 0],
    ['drained', 0],
  ]);
});

it('the drain does not wait for connections without a request', async () => {
  const { events, drained } = stop(never, Promise.resolve());
  await vi.advanceTimersByTimeAsync(500);
  await drained;
  expect(events).toEqual([
    ['refuse', 0],
    ['close connections', 500],
    ['drained', 500],
  ]);
});

it('the drain aborts open requests while there is time for their answers, and closes the rest at its end', async () => {
  const { events, drained } = stop(never, new Promise((resolve) => setTimeout(resolve, 9_900)));
  await vi.advanceTimersByTimeAsync(10_000);
  await drained;
  expect(events).toEqual([
    ['refuse', 0],
    ['warn', 9_500],
    ['abort requests', 9_500],
    ['abort methods', 9_500],
    ['close connections', 10_000],
    ['drained', 10_000],
  ]);
});

it('the drain closes no connection that its answer ends', async () => {
  const answered = new Promise<void>((resolve) => setTimeout(resolve, 9_900));
  const { events, drained } = stop(answered, answered);
  await vi.advanceTimersByTimeAsync(9_900);
  await drained;
  expect(events.map(([what]) => what)).toEqual(['refuse', 'warn', 'abort requests', 'abort methods', 'drained']);
});

it('the drain does not wait long for a request that does not end', async () => {
  const { events, drained } = stop(never, never);
  await vi.advanceTimersByTimeAsync(11_000);
  await drained;
  expect(events.at(-1)).toEqual(['drained', 10_250]);
});
