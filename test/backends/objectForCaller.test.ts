import type { AxiosAdapter, AxiosResponse } from 'axios';
import { describe, expect, it, vi } from 'vitest';
import { createCircuit } from '../../src/backends/circuit.ts';
import { createDeadline } from '../../src/backends/deadline.ts';
import { createObjectReader } from '../../src/backends/objectForCaller.ts';
import { createRedaction } from '../../src/backends/redaction.ts';
import { TransportFailure } from '../../src/backends/transport.ts';
import { createTroubles } from '../../src/log/troubles.ts';
import { noMeter } from '../../src/metrics/meter.ts';
import { createCalls } from '../../src/observing/calls.ts';
import type { TransportFault } from '../../src/protocol/backendCalls.ts';
import { courseOf } from '../support/courses.ts';
import { withFakeTimers } from '../support/fakeTimers.ts';
import { recordingLog } from '../support/recordingLog.ts';

// Look-ups with the tokens of callers: places, circuit, words (M2, M14, D45).

withFakeTimers();

const objectId = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** An information model with one connection, whose answers the test gives. */
function informationModel({ connections = 1, ownSecret = 'our-own-client-secret' } = {}) {
  const asked: { token: string; answer(status: number, body?: object): void; fail(fault: TransportFault): void }[] = [];
  const adapter: AxiosAdapter = (config) =>
    new Promise((resolve, reject) => {
      const token = String(config.headers['authorization']).replace('Bearer ', '');
      const given = { statusText: '', headers: {}, config };
      asked.push({
        token,
        answer: (status, body = {}) =>
          resolve({ ...given, status, data: Buffer.from(JSON.stringify(body)) } as AxiosResponse),
        fail: (fault) => reject(new TransportFailure(fault, true)),
      });
    });
  const probe = vi.fn(async () => ({ healthy: true, retryAfterMs: 0 }));
  const troubles = createTroubles(recordingLog());
  const limits = { name: 'information model', failures: 3, probeMs: 1_000, maxProbeMs: 1_000 };
  const circuit = createCircuit({ ...limits, probe, troubles });
  const calls = createCalls('informationModel', 'http://127.0.0.1', noMeter);
  const redact = createRedaction([ownSecret]);
  const sizes = { maxAnswerBytes: 1_000_000, attemptTimeoutMs: 5_000, connections };
  const reader = createObjectReader({ adapter, circuit, redact, hideHosts: (text) => text, calls, ...sizes });
  const lookUp = (token: string, { object = 1, isKnown = false } = {}) =>
    reader.readObject(objectId(object), 'svc.device', {
      ...{ token, isKnown, correlationId: 'c', course: courseOf() },
      deadline: createDeadline(10),
    });
  return { asked, circuit, probe, reader, lookUp };
}

const settle = () => vi.advanceTimersByTimeAsync(0);

describe('a look-up', () => {
  it('of a token that was accepted lately goes before those that wait', async () => {
    const { asked, lookUp } = informationModel();
    const refused = ['x1', 'x2', 'x3'].map((token) => lookUp(token));
    const good = lookUp('good', { isKnown: true });
    for (const count of [1, 2, 3, 4]) {
      expect(asked).toHaveLength(count);
      asked.at(-1)?.answer(401);
      await settle();
    }
    await Promise.all([...refused, good]);
    expect(asked.map(({ token }) => token)).toEqual(['x1', 'good', 'x2', 'x3']);
  });

  it('gives its place back also when the circuit is open at its end', async () => {
    const { asked, circuit, reader, lookUp } = informationModel();
    const inProgress = lookUp('a');
    const waiting = [lookUp('b'), lookUp('c')];
    for (const object of ['1', '2', '3']) circuit.failed(object, 'connection lost');
    expect(circuit.state()).toBe('open');
    asked[0]?.fail('connection lost');
    const results = await Promise.all([inProgress, ...waiting]);
    expect(results.map((result) => 'problem' in result && result.problem)).toEqual([
      'did not respond: connection lost',
      'is unavailable',
      'is unavailable',
    ]);
    expect([asked.length, reader.connections()]).toEqual([1, { inUse: 0, waiting: 0 }]);
  });
});

describe('the circuit', () => {
  /** Looks up each object in turn, with the same end. */
  async function fail(objects: readonly number[], fault: TransportFault) {
    const all = informationModel();
    for (const object of objects) {
      const result = all.lookUp('token', { object });
      all.asked.at(-1)?.fail(fault);
      await result;
    }
    return all;
  }

  it('opens when connections are lost while several objects are looked up', async () => {
    const { circuit } = await fail([1, 2, 3], 'connection lost');
    expect(circuit.state()).toBe('open');
  });

  it('stays closed when they are lost while one object is looked up, which one caller can do', async () => {
    const { circuit } = await fail([1, 1, 1, 1, 1, 1], 'connection lost');
    expect(circuit.state()).toBe('closed');
  });

  it('does not count time-outs, but has the information model probed', async () => {
    const { circuit, probe } = await fail([1, 2, 3, 4, 5, 6], 'no answer in time');
    await settle();
    expect([circuit.state(), probe.mock.calls.length]).toEqual(['closed', 1]);
  });

  it('does not count answers that are too large', async () => {
    const { circuit, probe } = await fail([1, 2, 3, 4, 5, 6], 'answer too large');
    await settle();
    expect([circuit.state(), probe.mock.calls.length]).toEqual(['closed', 0]);
  });
});

describe('what the information model says of a refusal', () => {
  it('is passed on without the token of the caller, and without secrets of ours', async () => {
    const { asked, lookUp } = informationModel({ ownSecret: 'our-own-client-secret' });
    const result = lookUp('token-of-the-caller');
    const detail = 'token-of-the-caller is not our-own-client-secret';
    asked[0]?.answer(403, { errors: [{ code: '403', title: 'Forbidden', detail }] });
    expect(await result).toMatchObject({
      kind: 'refused',
      status: 403,
      detail: expect.stringMatching(/: … is not …$/),
    });
  });
});
