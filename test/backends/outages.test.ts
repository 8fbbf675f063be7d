import type { AxiosAdapter } from 'axios';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createBackends } from '../../src/backends/backends.ts';
import { createDeadline } from '../../src/backends/deadline.ts';
import { Rejection } from '../../src/protocol/rejection.ts';
import { recordingLog } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { callOf, settings } from './harness.ts';

withFakeTimers();

interface Called {
  /** Undefined for a probe. */
  readonly device: string | undefined;
  readonly objectId: string;
  readonly at: number;
}
type Answer = readonly [status: number, retryAfter?: string];

/** An information model that answers as the test says, 5 ms after it has been asked. */
function setUp(answer: (called: Called) => Answer, random = Math.random) {
  const began = performance.now();
  const now = () => performance.now() - began;
  const calls: Called[] = [];
  const adapter: AxiosAdapter = async (config) => {
    const device = config.headers['x-svc-device-id'] as string | undefined;
    const called = { device, objectId: /^\/objects\/([^/]+)/.exec(config.url ?? '')?.[1] ?? '', at: now() };
    calls.push(called);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const [status, retryAfter] = answer(called);
    const data = Buffer.from(JSON.stringify({ objectId: called.objectId, model: 'm', version: 1 }));
    return { status, statusText: '', headers: { 'retry-after': retryAfter }, data, config };
  };
  const log = recordingLog();
  const backends = createBackends(settings, log, { adapter, random });
  onTestFinished(() => backends.close());
  const outcomes: { objectId: string; code: string; at: number }[] = [];
  return {
    calls,
    log,
    now,
    outcomes,
    isOpen: () => !backends.isUp('informationModel'),
    async read(device: string, objectId: string, seconds = 300) {
      const model = backends.bind(callOf({ deviceId: device, deadline: createDeadline(seconds) })).informationModel;
      const code = await model.getModel(objectId, 'm').then(
        () => 'ok',
        (error) => (error instanceof Rejection ? error.code : Promise.reject(error)),
      );
      outcomes.push({ objectId, code, at: now() });
      return code;
    },
    probes: () => calls.filter(({ device }) => device === undefined).map(({ at }) => Math.round(at)),
  };
}

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

describe('a Retry-After that ends after the deadline', () => {
  it('is an outage: all 40 messages that get it wait, and succeed when a probe succeeds', async () => {
    const { read, isOpen, now } = setUp(({ at }) => (at < 60_000 ? [503, '600'] : [200]));
    const work = Promise.all(times(40, (i) => read(`d${i}`, `o${i}`)));
    await vi.advanceTimersByTimeAsync(59_000);
    expect(isOpen()).toBe(true);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await work).toEqual(times(40, () => 'ok'));
    expect(now()).toBeLessThan(80_000);
  });

  it('opens the circuit after failures of one device when a probe fails as well', async () => {
    const { read, isOpen, probes } = setUp(({ at }) => (at < 60_000 ? [503, '600'] : [200]));
    const work = read('d1', 'o1');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(isOpen()).toBe(true);
    await vi.advanceTimersByTimeAsync(80_000);
    expect(await work).toBe('ok');
    expect(probes().slice(0, 4)).toEqual([5, 15_010, 30_015, 45_020]); // no sooner than every 15 s
  });

  it('delays no other device when a probe succeeds', async () => {
    const { read, isOpen, calls, outcomes, now } = setUp(({ device }) => (device === 'd1' ? [503, '600'] : [200]));
    const first = read('d1', 'o1');
    let opened = false;
    for (let i = 0; i < 290; i += 1) {
      await Promise.all([read('d2', `other-${i}`), vi.advanceTimersByTimeAsync(1_000)]);
      opened ||= isOpen();
    }
    expect(opened).toBe(false);
    expect(outcomes.map(({ code }) => code)).toEqual(times(290, () => 'ok'));
    await vi.advanceTimersByTimeAsync(20_000);
    expect([await first, Math.round(outcomes.at(-1)?.at ?? now())]).toEqual(['timeout_exceeded', 300_000]);
    expect(calls.filter(({ device }) => device === 'd1').length).toBeLessThan(25);
  });

  it('is cut short when a probe succeeds: the next attempt comes after 15 s', async () => {
    const { read, outcomes, isOpen } = setUp(
      ({ device, at }) => (device === 'd1' && at < 10_000 ? [503, '600'] : [200]),
      () => 1,
    );
    const work = read('d1', 'o1');
    await vi.advanceTimersByTimeAsync(20_000);
    expect([await work, isOpen()]).toEqual(['ok', false]);
    expect(outcomes[0]?.at).toBe(5 + 5 + 100 + 15_000 + 5); // attempt, probe, back-off, Retry-After as far as it counts, attempt
  });
});

describe('HTTP 500', () => {
  it('at the last attempt of a message does not fail it while the backend is probed', async () => {
    const { read } = setUp(
      ({ at }) => [at < 30_000 ? 500 : 200],
      () => 1,
    );
    const first = read('d1', 'o1'); // its attempts end at 5, 110 and 315 ms
    await vi.advanceTimersByTimeAsync(309);
    const others = Promise.all(times(3, (i) => read('d2', `o${i}`)));
    await vi.advanceTimersByTimeAsync(60_000);
    expect([await first, await others]).toEqual(['ok', ['ok', 'ok', 'ok']]);
  });

  it('that a message gets again after a successful probe fails this message and leaves the circuit closed', async () => {
    const { read, calls, isOpen } = setUp(({ at, objectId }) => [at < 30_000 || /^bad/.test(objectId) ? 500 : 200]);
    const work = Promise.all(times(20, (i) => read(`d${i}`, i < 3 ? `bad-${i}` : `good-${i}`)));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await work).toEqual(times(20, (i) => (i < 3 ? 'internal_platform_error' : 'ok')));
    expect(isOpen()).toBe(false);
    const back = calls.findIndex(({ device, at }) => device === undefined && at >= 30_000);
    expect(calls.slice(back).filter(({ objectId }) => objectId === 'bad-0').length).toBe(1);
  });

  it('of a few hostile devices delays no other in ten minutes: the circuit stays closed, and others are served', async () => {
    const { read, outcomes, probes, log } = setUp(({ objectId }) => [objectId.startsWith('bad') ? 500 : 200]);
    const end = performance.now() + 600_000;
    async function go(device: string, everyMs: number, objectId: (i: number) => string) {
      for (let i = 0; performance.now() < end; i += 1) {
        await read(device, objectId(i));
        await new Promise((resolve) => setTimeout(resolve, everyMs));
      }
    }
    const work = Promise.all([
      ...['h1', 'h2', 'h3'].map((device) => go(device, 4_000, (i) => `${i % 9 === 8 ? 'fine' : 'bad'}-${device}-${i}`)),
      go('d1', 20_000, (i) => `good-${i}`), // a quiet fleet: hardly a success in between
    ]);
    await vi.advanceTimersByTimeAsync(630_000);
    await work;
    const others = outcomes.filter(({ objectId }) => objectId.startsWith('good'));
    const attacks = outcomes.filter(({ objectId }) => objectId.startsWith('bad'));
    expect([others.length, others.filter(({ code }) => code !== 'ok')]).toEqual([30, []]);
    expect(attacks.every(({ code }) => code === 'internal_platform_error')).toBe(true);
    expect(attacks.length).toBeGreaterThan(300);
    expect(probes().length).toBeLessThanOrEqual(601); // they cost a probe a second at most
    expect(log.lines.filter(({ message }) => message.includes('is out'))).toEqual([]);
  });
});
