import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCircuit } from '../../src/backends/circuit.ts';
import { createDeadline } from '../../src/backends/deadline.ts';
import type { ScriptedReply } from '../support/scriptedBackend.ts';
import { callOf, recordingLog, rejection, scripted } from './harness.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function circuit(health: boolean[] = []) {
  const log = recordingLog();
  const probes: number[] = [];
  const began = performance.now();
  const opened = createCircuit({
    name: 'type registry',
    failures: 5,
    probeMs: 1000,
    maxProbeMs: 5000,
    log,
    probe: async () => {
      probes.push(performance.now() - began);
      return health.shift() ?? false;
    },
  });
  const fail = (times: number, device: (index: number) => string, failure = 'HTTP 503') => {
    for (let index = 0; index < times; index += 1) opened.failed(device(index), failure);
  };
  return { ...opened, fail, log, probes };
}

const twoDevices = (index: number) => `d${index % 2}`;
const oneDevice = () => 'd1';

describe('a circuit', () => {
  it('opens when failures come from two devices and nothing succeeds in between', () => {
    const { fail, state, untilClosed, log } = circuit();
    fail(4, twoDevices);
    expect([state(), untilClosed()]).toEqual(['closed', undefined]);
    fail(1, twoDevices);
    expect([state(), untilClosed()]).toEqual(['open', expect.any(Promise)]);
    expect(log.lines).toEqual([
      {
        level: 'warn',
        fields: { backend: 'type registry', failures: 5, failure: 'HTTP 503' },
        message: 'backend is out, calls to it wait',
      },
    ]);
  });

  it('stays closed whatever one device alone meets', () => {
    const { fail, state } = circuit();
    fail(100, oneDevice);
    expect(state()).toBe('closed');
  });

  it('opens for one device when connections are refused', () => {
    const { fail, state } = circuit();
    fail(4, oneDevice, 'connection refused');
    expect(state()).toBe('closed');
    fail(1, oneDevice, 'connection refused');
    expect(state()).toBe('open');
  });

  it('forgets failures at a success', () => {
    const { fail, succeeded, state } = circuit();
    fail(4, twoDevices, 'connection refused');
    succeeded();
    fail(4, twoDevices, 'connection refused');
    expect(state()).toBe('closed');
  });

  it('is probed at growing intervals until the backend is healthy, then releases who waits', async () => {
    const { fail, state, untilClosed, probes, log } = circuit([false, false, false, false, true]);
    fail(5, twoDevices);
    const waiting = untilClosed();
    await vi.advanceTimersByTimeAsync(16_999);
    expect(state()).toBe('open');
    await vi.advanceTimersByTimeAsync(1);
    expect(await waiting).toBe(true);
    expect(probes).toEqual([1000, 3000, 7000, 12_000, 17_000]);
    expect(log.lines.at(-1)).toEqual({
      level: 'info',
      fields: { backend: 'type registry', outMs: 17_000 },
      message: 'backend is back',
    });
    expect([state(), untilClosed()]).toEqual(['closed', undefined]);
  });

  it('closes when a message that was under way succeeds, and is probed no more', async () => {
    const { fail, succeeded, state, probes } = circuit();
    fail(5, twoDevices);
    succeeded();
    expect(state()).toBe('closed');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(probes).toEqual([]);
  });

  it('opens again after a new row of failures, and not before', () => {
    const { fail, succeeded, state } = circuit();
    fail(5, twoDevices);
    succeeded();
    fail(4, twoDevices);
    expect(state()).toBe('closed');
    fail(1, twoDevices);
    expect(state()).toBe('open');
  });

  it('tells those who wait when the service closes', async () => {
    const { fail, untilClosed, close, probes } = circuit();
    fail(5, twoDevices);
    const waiting = untilClosed();
    close();
    expect(await waiting).toBe(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(probes).toEqual([]);
  });
});

const model = 'GET /objects/o1/models/m';
const probe = 'GET /objects/00000000-0000-0000-0000-000000000000/models/svc.device';
const ok: ScriptedReply = [200, { objectId: 'o1', model: 'm', version: 1 }];

describe('the circuit of a backend', () => {
  const readFor = (backends: ReturnType<typeof scripted>['backends'], deviceId: string, seconds = 300) =>
    backends.bind(callOf({ deviceId, deadline: createDeadline(seconds) })).informationModel.getModel('o1', 'm');

  it('makes messages under way wait, not fail, until a probe that is nobody’s message finds it healthy', async () => {
    const { backends, script, log } = scripted(
      [
        { together: [0, 1].map(() => ({ call: model, reply: [503] as const })) },
        { call: probe, reply: [503] },
        { call: probe, reply: [404] },
        { together: [0, 1].map(() => ({ call: model, reply: ok })) },
      ],
      { circuitFailures: 2 },
    );
    const work = Promise.all([readFor(backends, 'd1'), readFor(backends, 'd2')]);
    await vi.advanceTimersByTimeAsync(500);
    expect(backends.states()).toEqual({ informationModel: 'open', typeRegistry: 'closed', principalManager: 'closed' });
    await vi.advanceTimersByTimeAsync(3000);
    expect(await work).toMatchObject([{ value: { version: 1 } }, { value: { version: 1 } }]);
    expect(script.calls[2]?.headers).toEqual({ authorization: 'Bearer static-token' });
    expect(log.lines.map(({ message }) => message)).toEqual(['backend is out, calls to it wait', 'backend is back']);
  });

  it('does not keep a message beyond its time', async () => {
    const { backends } = scripted([{ together: [0, 1].map(() => ({ call: model, reply: 'refused' as const })) }], {
      circuitFailures: 2,
    });
    const work = Promise.all([rejection(readFor(backends, 'd1', 0.9)), rejection(readFor(backends, 'd1', 0.9))]);
    await vi.advanceTimersByTimeAsync(900);
    for (const { code, details } of await work) {
      expect([code, details]).toEqual(['timeout_exceeded', expect.stringContaining('connection refused')]);
    }
  });

  it.each([
    ['HTTP 500', [500]],
    ['HTTP 429', [429]],
    ['HTTP 404', [404]],
    ['an answer that is too large', [200, 'x'.repeat(5001)]],
  ] as [string, ScriptedReply][])('does not open for %s', async (_, reply) => {
    const calls = Array.from({ length: 2 }, () => ({ call: model, reply }));
    const { backends } = scripted(calls, { circuitFailures: 1 });
    const work = Promise.allSettled([readFor(backends, 'd1', 0.05), readFor(backends, 'd2', 0.05)]);
    await vi.advanceTimersByTimeAsync(100);
    await work;
    expect(backends.states().informationModel).toBe('closed');
  });

  it('does not open because devices give their messages too little time', async () => {
    const calls = Array.from({ length: 2 }, () => ({ call: model, reply: 'hang' as const }));
    const { backends } = scripted(calls, { circuitFailures: 2 });
    const work = Promise.allSettled([readFor(backends, 'd1', 0.9), readFor(backends, 'd2', 0.9)]);
    await vi.advanceTimersByTimeAsync(1000);
    await work;
    expect(backends.states().informationModel).toBe('closed');
  });

  it.each([[401], [408], [425], [429], [500], [502], [503], [504]])(
    'is not closed by a probe with HTTP %i',
    async (status) => {
      const { backends } = scripted(
        [
          { call: model, reply: 'refused' },
          { call: probe, reply: [status] },
          { call: probe, reply: [403] },
          { call: model, reply: ok },
        ],
        { circuitFailures: 1 },
      );
      const work = readFor(backends, 'd1');
      await vi.advanceTimersByTimeAsync(1500);
      expect(backends.states().informationModel).toBe('open');
      await vi.advanceTimersByTimeAsync(2000);
      await work;
      expect(backends.states().informationModel).toBe('closed');
    },
  );
});

const never = new AbortController().signal;

describe('readiness', () => {
  it('costs no promise when all that is needed is there', () => {
    const { backends } = scripted([]);
    expect(backends.ready(['informationModel', 'typeRegistry', 'principalManager'], never)).toBe(undefined);
  });

  it('waits for exactly the backends that are needed', async () => {
    const { backends } = scripted(
      [
        { call: model, reply: 'refused' },
        { call: probe, reply: [200] },
        { call: model, reply: ok },
      ],
      { circuitFailures: 1 },
    );
    const work = backends.bind(callOf()).informationModel.getModel('o1', 'm');
    await vi.advanceTimersByTimeAsync(0);
    expect(backends.ready(['typeRegistry', 'principalManager'], never)).toBe(undefined);
    const order: string[] = [];
    const first = backends.ready(['typeRegistry', 'informationModel'], never)?.then(() => order.push('first'));
    const second = backends.ready(['informationModel'], never)?.then(() => order.push('second'));
    expect([first, second]).toEqual([expect.any(Promise), expect.any(Promise)]);
    await vi.advanceTimersByTimeAsync(1000);
    await Promise.all([first, second, work]);
    expect(order).toEqual(['first', 'second']);
  });

  it('ends with false when there is no point in waiting any more, at once or later', async () => {
    const { backends } = scripted([{ call: model, reply: 'refused' }], { circuitFailures: 1 });
    const work = rejection(
      backends.bind(callOf({ deadline: createDeadline(0.05) })).informationModel.getModel('o1', 'm'),
    );
    await vi.advanceTimersByTimeAsync(100);
    await work;
    const closing = new AbortController();
    const waiting = backends.ready(['informationModel'], closing.signal);
    closing.abort();
    expect(await waiting).toBe(false);
    expect(await backends.ready(['informationModel'], closing.signal)).toBe(false);
    await backends.close();
  });

  it('ends with false when the service closes first', async () => {
    const { backends } = scripted([{ call: model, reply: 'refused' }], { circuitFailures: 1 });
    const work = rejection(
      backends.bind(callOf({ deadline: createDeadline(0.05) })).informationModel.getModel('o1', 'm'),
    );
    await vi.advanceTimersByTimeAsync(100);
    await work;
    const waiting = backends.ready(['informationModel'], never);
    await backends.close();
    expect(await waiting).toBe(false);
  });
});
