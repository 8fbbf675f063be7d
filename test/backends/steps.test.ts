import { describe, expect, it, vi } from 'vitest';
import { createDeadline } from '../../src/backends/deadline.ts';
import type { Span } from '../../src/observing/observation.ts';
import type { Publish } from '../../src/observing/taps.ts';
import { courseOf } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { answers, callOf, scripted, settled } from './harness.ts';

withFakeTimers();

const model = 'GET /objects/o1/models/m';
const probe = 'GET /objects/00000000-0000-0000-0000-000000000000/models/svc.device';
const ok = [200, { objectId: 'o1', model: 'm', version: 1 }] as const;

function setUp(...[script, changes]: Parameters<typeof scripted>) {
  const { backends } = scripted(script, changes);
  return (deviceId: string, seconds: number, told: unknown[] = []) => {
    const publish: Publish = (...all) => told.push(all);
    const observation = courseOf({ publish });
    const call = callOf({ deviceId, deadline: createDeadline(seconds), observation });
    const work = backends.bind(call).informationModel.getModel('o1', 'm');
    return {
      work: work.catch(() => undefined),
      waitsFor: () => [...observation.open].map((step) => step.waitsFor),
      observation,
    };
  };
}

describe('a call in progress', () => {
  it('shows its operation and backend, and that it waits for the answer', async () => {
    const read = setUp([{ call: model, reply: 'hang' }]);
    const { work, observation } = read('d1', 5);
    await vi.advanceTimersByTimeAsync(0);
    expect([...observation.open]).toEqual([
      {
        ...{ kind: 'call', what: 'read object model', of: 'information model', since: performance.now() },
        waitsFor: 'answer',
      },
    ]);
    await vi.advanceTimersByTimeAsync(10_000);
    await work;
    expect(observation.open.size).toBe(0);
  });

  it('shows that it waits for the next attempt, and reports each attempt', async () => {
    const read = setUp(answers(model, [503], ok));
    const told: unknown[] = [];
    const { work, waitsFor } = read('d1', 60, told);
    await vi.advanceTimersByTimeAsync(0);
    expect(waitsFor()).toEqual(['retry']);
    await vi.advanceTimersByTimeAsync(1_000);
    await work;
    const http = { method: 'GET', path: '/objects/o1/models/m' };
    const request = { backend: 'information model', operation: 'read object model', ...http };
    expect(told).toEqual([
      ['attempt', { ...request, attempt: 1, ms: 0, status: 503 }, expect.anything(), 'static-token'],
      [
        'attempt',
        { ...request, attempt: 2, ms: 0, status: 200 },
        { request: undefined, response: Buffer.from(JSON.stringify(ok[1])) },
        'static-token',
      ],
    ]);
  });

  it('has each attempt that failed as an event of its span', async () => {
    const { backends } = scripted(answers(model, 'lost', [503], ok));
    const told: unknown[] = [];
    const span: Span = {
      ...{ traceparent: 't', child: () => span, end: () => told.push('end') },
      event: (_, attributes) => told.push(attributes['error.type']),
    };
    await settled(backends.bind(callOf({ observation: courseOf({ span }) })).informationModel.getModel('o1', 'm'));
    expect(told).toEqual(['connection_lost', '503', 'end']);
  });

  it('shows that it waits for the end of an outage', async () => {
    const read = setUp([...answers(model, 'refused'), { call: probe, reply: [404] }, { call: model, reply: ok }], {
      circuitFailures: 1,
    });
    const { work, waitsFor } = read('d1', 60);
    await vi.advanceTimersByTimeAsync(500);
    expect(waitsFor()).toEqual(['circuit']);
    await vi.advanceTimersByTimeAsync(5_000);
    await work;
  });
});
