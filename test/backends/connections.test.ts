import type { AxiosAdapter, AxiosResponse } from 'axios';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createBackends } from '../../src/backends/backends.ts';
import { Cancelled, createDeadline } from '../../src/backends/deadline.ts';
import { TransportFailure } from '../../src/backends/transport.ts';
import { recordingLog } from '../support/observed.ts';
import { callOf, rejection, settings } from './harness.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));

const settle = () => vi.advanceTimersByTimeAsync(0);
const stored = { objectId: 'o1', model: 'm', version: 1 };

interface Held {
  /** The device on whose behalf it came; undefined for a probe. */
  readonly device: string | undefined;
  readonly timeoutMs: number | undefined;
  answer(status?: number): Promise<void>;
}

/** The backends over one that answers when the test says so. */
function held(changes: Partial<typeof settings> = {}) {
  const calls: Held[] = [];
  const adapter: AxiosAdapter = (config) =>
    new Promise<AxiosResponse>((resolve, reject) => {
      const { timeout: timeoutMs, headers } = config;
      const timer = setTimeout(() => reject(new TransportFailure('no answer in time', true)), timeoutMs);
      const data = Buffer.from(JSON.stringify(stored));
      calls.push({
        device: headers['x-svc-device-id'] as string | undefined,
        timeoutMs,
        async answer(status = 200) {
          clearTimeout(timer);
          resolve({ status, statusText: '', headers: {}, data, config });
          await settle();
        },
      });
    });
  const log = recordingLog();
  const backends = createBackends({ ...settings, ...changes }, log, { adapter, random: () => 1 });
  onTestFinished(() => backends.close());
  const read = (deviceId: string, seconds = 300, ended?: AbortSignal) =>
    backends.bind(callOf({ deviceId, deadline: createDeadline(seconds, ended) })).informationModel.getModel('o1', 'm');
  const devices = () => calls.map(({ device }) => device);
  return { backends, read, calls, devices, log };
}

describe('the connections of a backend', () => {
  it('are taken in the order of the calls, and each attempt has its full time-out', async () => {
    const { read, calls, devices } = held({ connections: 2 });
    const work = Promise.all(['d1', 'd2', 'd3', 'd4'].map((device) => read(device)));
    await vi.advanceTimersByTimeAsync(29_000);
    expect(devices()).toEqual(['d1', 'd2']);
    await calls[1]?.answer();
    expect(devices()).toEqual(['d1', 'd2', 'd3']);
    await calls[0]?.answer();
    await vi.advanceTimersByTimeAsync(29_000);
    for (const call of calls) await call.answer();
    expect(await work).toHaveLength(4);
    expect(calls.map(({ device, timeoutMs }) => [device, timeoutMs])).toEqual(
      ['d1', 'd2', 'd3', 'd4'].map((device) => [device, 30_000]),
    );
  });

  it('are free again after an attempt with any outcome', async () => {
    const { read, calls } = held({ connections: 1, circuitFailures: 100 });
    const ended = new AbortController();
    const timedOut = rejection(read('d1', 1));
    await vi.advanceTimersByTimeAsync(1000);
    const refused = rejection(read('d2'));
    await calls[1]?.answer(403);
    const garbage = rejection(read('d3'));
    await calls[2]?.answer(302);
    const cancelled = read('d4', 300, ended.signal).catch((error: Error) => error);
    ended.abort();
    await calls[3]?.answer(503);
    const codes = [await timedOut, await refused, await garbage].map(({ code }) => code);
    expect(codes).toEqual(['timeout_exceeded', 'not_authorized', 'internal_platform_error']);
    expect(await cancelled).toBeInstanceOf(Cancelled);
    const last = read('d5');
    await calls[4]?.answer();
    expect((await last)?.value).toEqual(stored);
  });

  it('are waited for no longer than the deadline of the message, which the answer names', async () => {
    const { read, calls, devices } = held({ connections: 1 });
    const first = read('d1');
    const refusal = rejection(read('d2', 2));
    await vi.advanceTimersByTimeAsync(2000);
    expect([(await refusal).code, (await refusal).details]).toEqual([
      'timeout_exceeded',
      'the message timed out while waiting for a free connection to the information model to read object model',
    ]);
    await calls[0]?.answer();
    await first;
    expect(devices()).toEqual(['d1']);
  });

  it('are not used by a message whose partition has been lost, although one is free', async () => {
    const { read, calls, devices } = held({ connections: 1 });
    await expect(read('d1', 300, AbortSignal.abort())).rejects.toBeInstanceOf(Cancelled);
    const work = read('d2');
    await calls[0]?.answer();
    await work;
    expect(devices()).toEqual(['d2']);
  });

  it('are not used by queued calls while the circuit is open; only the probe uses one (B5)', async () => {
    const { read, calls, devices } = held({ connections: 2, circuitFailures: 2 });
    const work = Promise.all(['d1', 'd2', 'd3', 'd4', 'd5'].map((device) => read(device)));
    await vi.advanceTimersByTimeAsync(30_000);
    expect(devices()).toEqual(['d1', 'd2', 'd3']); // d3 had the place of d1 before d2 failed too
    await vi.advanceTimersByTimeAsync(1000);
    expect(devices()).toEqual(['d1', 'd2', 'd3', undefined]);
    await calls[3]?.answer(404);
    await calls[2]?.answer();
    expect(calls).toHaveLength(6);
    for (let next = 4; next < 8; next += 1) await calls[next]?.answer();
    expect(await work).toHaveLength(5);
    expect(devices().slice(4).sort()).toEqual(['d1', 'd2', 'd4', 'd5']);
  });
});

describe('a time-out', () => {
  it('does not open the circuit when the backend has answered other calls during the attempt (B5)', async () => {
    const { read, calls, backends } = held({ circuitFailures: 2 });
    const work = Promise.allSettled([read('d1', 30), read('d2', 30), read('d3', 30)]);
    await vi.advanceTimersByTimeAsync(1);
    await calls[2]?.answer(404);
    await vi.advanceTimersByTimeAsync(29_999);
    await work;
    expect(backends.states().informationModel.circuit).toBe('closed');
  });

  it('opens the circuit when all answers of the backend came before the attempt (B5)', async () => {
    const { read, calls, backends } = held({ circuitFailures: 2 });
    const first = read('d3');
    await calls[0]?.answer();
    await first;
    const work = Promise.allSettled([read('d1', 30), read('d2', 30)]);
    await vi.advanceTimersByTimeAsync(30_000);
    await work;
    expect(backends.states().informationModel.circuit).toBe('open');
  });
});
