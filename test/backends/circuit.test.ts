import { getEventListeners } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createCircuit } from '../../src/backends/circuit.ts';
import { createDeadline } from '../../src/backends/deadline.ts';
import { createTroubles } from '../../src/observing/log.ts';
import { createMeter } from '../../src/observing/metrics.ts';
import { readingOf, recordingLog } from '../support/observed.ts';
import type { ScriptedReply } from '../support/scriptedBackend.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { answers, callOf, rejection, scripted } from './harness.ts';

withFakeTimers();

function circuit(health: boolean[] = [], retryAfterMs = 0) {
  const log = recordingLog();
  const troubles = createTroubles(log);
  const probes: number[] = [];
  const began = performance.now();
  const opened = createCircuit({
    ...{ name: 'type registry', failures: 5, probeMs: 1000, maxProbeMs: 5000, troubles },
    probe: async () => {
      probes.push(performance.now() - began);
      return health.shift() ? undefined : retryAfterMs;
    },
  });
  onTestFinished(() => {
    opened.close();
    troubles.close();
  });
  const fail = (times: number, device: (index: number) => string, failure = 'HTTP 503') => {
    for (let index = 0; index < times; index += 1) opened.failed(device(index), failure);
  };
  return { ...opened, fail, log, probes };
}

const twoDevices = (index: number) => `d${index % 2}`;
const oneDevice = () => 'd1';

describe('a circuit', () => {
  it('opens after failures of two devices without a success in between', () => {
    const { fail, state, untilClosed, log } = circuit();
    fail(4, twoDevices);
    expect([state(), untilClosed()]).toEqual(['closed', undefined]);
    fail(1, twoDevices);
    expect([state(), untilClosed()]).toEqual(['open', expect.any(Promise)]);
    const fields = { backend: 'type registry', failures: 5, failure: 'HTTP 503' };
    expect(log.lines).toEqual([{ level: 'warn', fields, message: 'backend is out, calls to it wait' }]);
  });

  it('does not blame the backend when this process may open no more connections', () => {
    const { fail, log } = circuit();
    fail(5, twoDevices, 'too many open files');
    const todo = expect.stringContaining('this process');
    expect(log.lines).toMatchObject([{ fields: { failure: 'too many open files', setting: 'ulimit -n', todo } }]);
  });

  it('stays closed after any failures of one device alone', () => {
    const { fail, succeeded, state } = circuit();
    fail(100, oneDevice);
    expect(state()).toBe('closed');
    succeeded();
    fail(4, twoDevices);
    succeeded();
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

  it('resets its failures at a success', () => {
    const { fail, succeeded, state } = circuit();
    fail(4, twoDevices, 'connection refused');
    succeeded();
    fail(4, twoDevices, 'connection refused');
    expect(state()).toBe('closed');
  });

  it('is logged once a minute while it is open, with the number of failed attempts and of calls that began to wait', async () => {
    const { fail, untilClosed, log } = circuit();
    fail(5, twoDevices);
    void untilClosed();
    void untilClosed();
    fail(2, oneDevice);
    await vi.advanceTimersByTimeAsync(120_000);
    const told = log.lines.map(({ fields }) => `${fields['failures']} ${fields['waited']} ${fields['forSeconds']}`);
    expect(told).toEqual(['5 undefined undefined', '7 2 60', '7 2 120']);
    expect(log.lines[2]?.message).toBe('backend is out, calls to it wait');
  });

  it('is probed no sooner than the backend’s Retry-After, up to the longest interval', async () => {
    const [wished, excessive] = [circuit([], 3_000), circuit([], 600_000)];
    for (const one of [wished, excessive]) one.fail(5, twoDevices);
    await vi.advanceTimersByTimeAsync(13_000);
    expect(wished.probes).toEqual([1_000, 4_000, 8_000, 13_000]);
    expect(excessive.probes).toEqual([1_000, 6_000, 11_000]);
  });

  it('is probed at growing intervals until the backend is healthy, then releases the calls that wait', async () => {
    const { fail, state, untilClosed, probes, log } = circuit([false, false, false, false, true]);
    fail(5, twoDevices);
    const waiting = untilClosed();
    await vi.advanceTimersByTimeAsync(16_999);
    expect(state()).toBe('open');
    await vi.advanceTimersByTimeAsync(1);
    expect([await waiting, probes]).toEqual([true, [1000, 3000, 7000, 12_000, 17_000]]);
    const fields = { backend: 'type registry', waited: 1, times: 1, forSeconds: 17 };
    expect(log.lines.at(-1)).toEqual({ level: 'info', fields, message: 'backend is back' });
    expect([state(), untilClosed()]).toEqual(['closed', undefined]);
  });

  it.each([
    ['is probed no more', 0, []],
    ['a probe that is under way is the last one', 1_000, [1_000]],
  ])('closes when a message in progress succeeds, and %s', async (_, afterMs, probed) => {
    const { fail, succeeded, state, probes } = circuit();
    fail(5, twoDevices);
    vi.advanceTimersByTime(afterMs);
    succeeded();
    expect(state()).toBe('closed');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(probes).toEqual(probed);
  });

  it('opens again only after a new series of failures', () => {
    const { fail, succeeded, state } = circuit();
    fail(5, twoDevices);
    succeeded();
    fail(4, twoDevices);
    expect(state()).toBe('closed');
    fail(1, twoDevices);
    expect(state()).toBe('open');
  });

  it('does not open after the service has closed it, whatever the attempts in progress end with', async () => {
    const { fail, state, close, log, probes } = circuit();
    close();
    fail(5, twoDevices);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([state(), log.lines, probes]).toEqual(['closed', [], []]);
  });

  it('releases the calls that wait when the service closes', async () => {
    const { fail, untilClosed, close, probes } = circuit();
    fail(5, twoDevices);
    const waiting = untilClosed();
    close();
    expect(await waiting).toBe(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(probes).toEqual([]);
  });

  describe('at HTTP 500', () => {
    const erring = (health: boolean[]) => {
      const made = circuit(health);
      const draw = (times: number, device: (index: number) => string) => {
        for (let index = 0; index < times; index += 1) made.serverError(device(index));
      };
      return { ...made, draw };
    };

    it('probes the backend when several devices get it in a row, and opens when the backend is not healthy', async () => {
      const { draw, state, untilProbed, probes, log } = erring([false]);
      draw(4, twoDevices);
      expect([untilProbed(), probes]).toEqual([undefined, []]);
      draw(1, twoDevices);
      expect(state()).toBe('closed');
      await untilProbed();
      const fields = { backend: 'type registry', failure: 'HTTP 500', failures: 5 };
      expect([state(), probes, log.lines[0]?.fields]).toEqual(['open', [0], fields]);
    });

    it('stays closed when the backend is healthy, and restarts its count', async () => {
      const { draw, state, untilProbed, probes } = erring([true, true]);
      draw(5, twoDevices);
      await untilProbed();
      draw(4, twoDevices);
      expect([state(), untilProbed(), probes]).toEqual(['closed', undefined, [0]]);
    });

    it('does not probe when one device alone gets it, or after a success in between', () => {
      const { draw, succeeded, untilProbed } = erring([]);
      draw(100, oneDevice);
      succeeded();
      draw(4, twoDevices);
      expect(untilProbed()).toBe(undefined);
    });

    it('probes once a second at most', async () => {
      const { draw, probes } = erring(Array(100).fill(true));
      for (let passed = 0; passed < 4_500; passed += 10) {
        draw(5, twoDevices);
        await vi.advanceTimersByTimeAsync(10);
      }
      expect(probes).toEqual([0, 1_000, 2_000, 3_000, 4_000]);
    });

    it('probes only at its intervals while it is open, whatever fails meanwhile', async () => {
      const { draw, fail, probeNow, untilProbed, probes } = erring([]);
      fail(5, twoDevices);
      draw(5, twoDevices);
      probeNow('no answer in time');
      expect(untilProbed()).toBe(undefined);
      await vi.advanceTimersByTimeAsync(3_000);
      expect(probes).toEqual([1_000, 3_000]);
    });

    it('ignores an unhealthy probe when another call has succeeded since it began', async () => {
      const { draw, succeeded, untilProbed, state } = erring([false]);
      draw(5, twoDevices);
      const asked = untilProbed();
      succeeded();
      await asked;
      expect(state()).toBe('closed');
    });

    it('leaves no call waiting when it has opened before an unhealthy probe ends', async () => {
      const { draw, fail, succeeded, untilProbed, untilClosed } = erring([false]);
      draw(5, twoDevices);
      const asked = untilProbed();
      fail(5, twoDevices);
      const ended = vi.fn();
      void untilClosed()?.then(ended);
      await asked;
      succeeded();
      await vi.advanceTimersByTimeAsync(0);
      expect(ended.mock.calls).toEqual([[true]]);
    });

    it('leaves no call waiting for a probe when the service closes', async () => {
      const { draw, untilProbed, close, state } = erring([true, false]);
      draw(5, twoDevices);
      await untilProbed();
      draw(5, twoDevices);
      const asked = untilProbed();
      close();
      await asked;
      expect([state(), vi.getTimerCount()]).toEqual(['closed', 0]);
    });
  });
});

const model = 'GET /objects/o1/models/m';
const probe = 'GET /objects/00000000-0000-0000-0000-000000000000/models/svc.device';
const ok: ScriptedReply = [200, { objectId: 'o1', model: 'm', version: 1 }];
const both = (reply: ScriptedReply) => ({ together: answers(model, reply, reply) });

/** A backend with a cache that has not been called. */
const up = { circuit: 'closed', outage: undefined, connections: { inUse: 0, waiting: 0 }, cacheEntries: 0 };

const readFor = (backends: ReturnType<typeof scripted>['backends'], deviceId: string, seconds = 300) =>
  backends.bind(callOf({ deviceId, deadline: createDeadline(seconds) })).informationModel.getModel('o1', 'm');

describe('the circuit of a backend', () => {
  it('makes messages in progress wait, not fail, until a probe (which is not a message) succeeds', async () => {
    const calls = [both([503]), ...answers(probe, [503], [404]), both(ok)];
    const { backends, script, log } = scripted(calls, { circuitFailures: 2 });
    const work = Promise.all([readFor(backends, 'd1'), readFor(backends, 'd2')]);
    await vi.advanceTimersByTimeAsync(500);
    expect(backends.states()).toMatchObject({
      informationModel: {
        circuit: 'open',
        outage: { since: expect.any(Number), failure: 'HTTP 503' },
        connections: { inUse: 0, waiting: 0 },
      },
      typeRegistry: up,
      principalManager: up,
    });
    await vi.advanceTimersByTimeAsync(3000);
    expect(await work).toMatchObject([{ value: { version: 1 } }, { value: { version: 1 } }]);
    expect(script.calls[2]?.headers).toEqual({ authorization: 'Bearer static-token' });
    expect(log.lines.map(({ message }) => message)).toEqual(['backend is out, calls to it wait', 'backend is back']);
  });

  it('ends the pause of a Retry-After as soon as a probe succeeds', async () => {
    const pausing = [503, undefined, { 'retry-after': '200' }] as const;
    const calls = [...answers(model, [503], pausing), ...answers(probe, [200]), both(ok)];
    const { backends } = scripted(calls, { circuitFailures: 2 });
    const work = Promise.all([readFor(backends, 'd1'), readFor(backends, 'd2')]);
    const began = performance.now();
    const ended = work.then(() => performance.now() - began);
    await vi.runAllTimersAsync();
    expect(await ended).toBe(1_000);
  });

  it('does not delay a message beyond its deadline', async () => {
    const { backends } = scripted([both('refused')], { circuitFailures: 2 });
    const work = Promise.all([rejection(readFor(backends, 'd1', 0.9)), rejection(readFor(backends, 'd1', 0.9))]);
    await vi.advanceTimersByTimeAsync(900);
    for (const { code, details } of await work)
      expect([code, details]).toEqual(['timeout_exceeded', expect.stringContaining('connection refused')]);
  });

  it.each([
    ['does not open for time-outs of messages with short deadlines', 0.9, 'closed'],
    ['opens for time-outs of a second', 1, 'open'],
  ])('%s', async (_, seconds, state) => {
    const { backends } = scripted(answers(model, 'hang', 'hang'), { circuitFailures: 2 });
    const work = Promise.allSettled([readFor(backends, 'd1', seconds), readFor(backends, 'd2', seconds)]);
    await vi.advanceTimersByTimeAsync(1000);
    await work;
    expect(backends.states().informationModel.circuit).toBe(state);
  });

  it('is counted when it opens, with its probes, of which the first answer shows that the service’s token is accepted', async () => {
    const meter = createMeter();
    const calls = [...answers(model, [401], [401]), ...answers(probe, [401], 'refused', [404])];
    const { backends, log } = scripted(calls, { circuitFailures: 2 }, meter);
    const work = Promise.all(['d1', 'd2'].map((device) => rejection(readFor(backends, device, 2))));
    await vi.advanceTimersByTimeAsync(2_000);
    await work;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(log.lines).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(readingOf(meter, 'device_messaging.backend.outages')).toEqual({ informationModel: 1 });
    expect(readingOf(meter, 'http.client.request.duration')).toMatchObject({
      'informationModel probe GET 401': 1,
      'informationModel probe GET  connection refused': 1,
      'informationModel probe GET 404': 1,
    });
    expect(log.lines.map(({ message }) => message)).toEqual([
      'backend refuses our access token',
      'backend is out, calls to it wait',
      'backend accepts our access token',
      'backend is back',
    ]);
  });

  it.each([[401], [408], [425], [429], [500], [501], [502], [503], [504]])(
    'stays open after HTTP %i',
    async (status) => {
      const calls = [...answers(model, 'refused'), ...answers(probe, [status], [403]), ...answers(model, ok)];
      const { backends } = scripted(calls, { circuitFailures: 1 });
      const work = readFor(backends, 'd1');
      await vi.advanceTimersByTimeAsync(1500);
      expect(backends.states().informationModel.circuit).toBe('open');
      await vi.advanceTimersByTimeAsync(2000);
      await work;
      expect(backends.states().informationModel.circuit).toBe('closed');
    },
  );
});

const never = new AbortController().signal;

describe('readiness', () => {
  it('creates no promise when all needed backends are available', () => {
    const { backends } = scripted([]);
    expect(backends.ready(['informationModel', 'typeRegistry', 'principalManager'], never)).toBe(undefined);
  });

  it('waits only for the needed backends', async () => {
    const calls = [...answers(model, 'refused'), ...answers(probe, [200]), ...answers(model, ok)];
    const { backends } = scripted(calls, { circuitFailures: 1 });
    const work = readFor(backends, 'd1');
    await vi.advanceTimersByTimeAsync(0);
    expect(backends.ready(['typeRegistry', 'principalManager'], never)).toBe(undefined);
    const order: string[] = [];
    const first = backends.ready(['typeRegistry', 'informationModel'], never)?.then(() => order.push('first'));
    const second = backends.ready(['informationModel'], never)?.then(() => order.push('second'));
    expect([first, second]).toEqual([expect.any(Promise), expect.any(Promise)]);
    await vi.advanceTimersByTimeAsync(1000);
    await Promise.all([first, second, work]);
    expect(order).toEqual(['first', 'second']);
    expect(getEventListeners(never, 'abort')).toHaveLength(1); // for all that ever wait under it
  });

  it('resolves with false when waiting becomes pointless, at once or later', async () => {
    const { backends } = scripted([{ call: model, reply: 'refused' }], { circuitFailures: 1 });
    const work = rejection(readFor(backends, 'd1', 0.05));
    await vi.advanceTimersByTimeAsync(100);
    await work;
    const closing = new AbortController();
    const waiting = backends.ready(['informationModel'], closing.signal);
    closing.abort();
    expect(await waiting).toBe(false);
    expect(await backends.ready(['informationModel'], closing.signal)).toBe(false);
  });
});
