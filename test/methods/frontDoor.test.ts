import { expect, it, vi } from 'vitest';
import { drain, frontDoorRoutes } from '../../src/methods/frontDoor.ts';
import { createInvocationRecords } from '../../src/observing/invocationRecords.ts';
import { createLog } from '../../src/observing/log.ts';
import { noMeter } from '../../src/observing/metrics.ts';
import { withFakeTimers } from '../support/waiting.ts';

// The order of a stop and its limits (M14, D205), and what the front door says about itself on the admin port.

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

const records = createInvocationRecords({ log: createLog('silent'), meter: noMeter, hubHost: '' });
const named = { objectId: 'o', model: 'm', method: 'stop' };
const begin = (correlationId: string) => records.begin({ correlationId, ...named });

it('operators see the hundred oldest invocations in progress, with their age and what each waits for', async () => {
  const begun = Array.from({ length: 101 }, (_, index) => begin(`c-${index}`));
  void begun[1]?.waitsFor('sign the files', 'file storage', new Promise(() => {}));
  void begun[1]?.waitsFor('method stop', 'device', new Promise(() => {}));
  vi.advanceTimersByTime(4_000);
  const routes = frontDoorRoutes(
    { requests: () => begun, inProgress: () => begun.length },
    { states: () => ({ informationModel: { circuit: 'open' } }) as never },
  );
  expect(Object.values(routes).map(({ about }) => about.length > 10)).toEqual([true, true]);
  expect(await routes['/backends']?.get?.({} as never)).toEqual({ informationModel: { circuit: 'open' } });
  const shown = (await routes['/requests']?.get?.({} as never)) as {
    readonly inProgress: number;
    readonly requests: readonly Record<string, unknown>[];
  };
  expect([shown.inProgress, shown.requests.length]).toEqual([101, 100]);
  const expected = { correlationId: 'c-0', ...named, seconds: 4, waitsFor: 'its body, or nothing' };
  expect(shown.requests[0]).toMatchObject(expected);
  expect(shown.requests[1]).toMatchObject({
    waitsFor: 'an answer of the file storage (sign the files); an answer of the device (method stop)',
  });
});
