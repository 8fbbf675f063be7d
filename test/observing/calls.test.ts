import { describe, expect, it, vi } from 'vitest';
import { createCallRecords } from '../../src/observing/callRecords.ts';
import { createMeter } from '../../src/observing/metrics.ts';
import { Rejection } from '../../src/protocol/rejection.ts';
import { courseOf, readingOf, sumsOf } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { recordedCourse } from './support/recordedSpans.ts';

// What is told of a call to a backend: its step and times, metrics, a span, and the attempts for followers.

withFakeTimers();

const request = { operation: 'read object model', method: 'GET', path: '/objects/o1', body: '{}' } as const;
const answer = (status: number) => ({ status, data: Buffer.from(`of ${status}`), token: 't' });

function setUp(url = 'https://im.example/api') {
  const meter = createMeter();
  const records = createCallRecords('informationModel', url, meter);
  const { observation, told, spans } = recordedCourse();
  const begin = (expected?: readonly number[]) =>
    records.begin(observation, { ...request, ...(expected && { expect: expected }) });
  return { meter, records, observation, told, begin, span: () => spans[1] };
}

describe('a call to a backend', () => {
  it('is told with each of its attempts', () => {
    const { meter, records, observation, told, begin, span } = setUp();
    const call = begin();
    expect(call.traceparent).toBe('traceparent of read object model');
    const step = { kind: 'call', what: 'read object model', of: 'information model', since: performance.now() };
    expect([...observation.open]).toEqual([{ ...step, waitsFor: 'connection' }]);
    vi.advanceTimersByTime(10);
    call.sends();
    expect([...observation.open]).toEqual([{ ...step, waitsFor: 'answer' }]);
    vi.advanceTimersByTime(100);
    expect(records.oldestMs()).toBe(100);
    call.attempted({ fault: 'connection refused' }, true);
    call.sends();
    vi.advanceTimersByTime(200);
    call.attempted(answer(503), true);
    call.sends();
    vi.advanceTimersByTime(300);
    call.attempted(answer(200), false);
    call.ended();

    const expected = [0, { informationModel: { calls: 1, attempts: 3, ms: 610 } }];
    expect([observation.open.size, observation.times]).toEqual(expected);
    expect(sumsOf(meter, 'http.client.request.duration')).toEqual({
      'informationModel read object model GET  connection refused': 0.1,
      'informationModel read object model GET 503': 0.2,
      'informationModel read object model GET 200': 0.3,
    });
    expect(readingOf(meter, 'device_messaging.backend.retries')).toEqual({ informationModel: 2 });
    const common = { backend: 'information model', operation: 'read object model', method: 'GET', path: '/objects/o1' };
    expect(told).toEqual([
      ['attempt', { ...common, attempt: 1, ms: 100, fault: 'connection refused' }, { request: '{}' }],
      [
        'attempt',
        { ...common, attempt: 2, ms: 200, status: 503 },
        { request: '{}', response: Buffer.from('of 503') },
        't',
      ],
      [
        'attempt',
        { ...common, attempt: 3, ms: 300, status: 200 },
        { request: '{}', response: Buffer.from('of 200') },
        't',
      ],
    ]);
    expect(records.oldestMs()).toBe(0);
    expect(span()).toEqual({
      ...{ name: 'read object model', kind: 'client', parent: 'root' },
      attributes: {
        ...{ 'http.request.method': 'GET', 'server.address': 'im.example', 'server.port': 443 },
        'svc.backend': 'information model',
      },
      events: [
        ['attempt failed', { 'error.type': 'connection_refused' }],
        ['attempt failed', { 'error.type': '503' }],
      ],
      ends: [[{ 'http.response.status_code': 200, 'http.request.resend_count': 2 }, undefined]],
    });
  });

  it.each([
    ['https://im.example', 443],
    ['http://im.example', 80],
    ['https://im.example:8443', 8443],
  ])('to %s is one to the port %d', (url, port) => {
    const { begin, span } = setUp(url);
    begin();
    expect(span()?.attributes).toMatchObject({ 'server.address': 'im.example', 'server.port': port });
  });

  const rejection = new Rejection('timeout_exceeded', 'too late');
  it.each<[type: string | undefined, status: number | undefined, expected: number[] | undefined, thrown: unknown]>([
    [undefined, 200, undefined, undefined],
    [undefined, 399, undefined, undefined],
    ['400', 400, undefined, undefined],
    ['404', 404, undefined, undefined],
    [undefined, 404, [404], undefined],
    ['404', 404, [409], undefined],
    ['404', 404, [404], rejection],
    ['timeout_exceeded', 200, undefined, rejection],
    ['timeout_exceeded', undefined, undefined, rejection],
    ['TypeError', 200, undefined, new TypeError('x')],
    ['unknown', 200, undefined, 'x'],
  ])('ends its span with the error %s after %s, expecting %j, when %s is thrown', (type, status, expected, thrown) => {
    const { begin, span } = setUp();
    const call = begin(expected);
    call.sends();
    if (status !== undefined) call.attempted(answer(status), false);
    if (thrown !== undefined) call.failed(thrown);
    call.ended();
    expect(span()?.ends).toEqual([[{ 'http.response.status_code': status }, type && { type }]]);
    expect(span()?.events).toEqual([]);
  });

  it('that ends without an answer is no longer under way, and has the fault of its last attempt', () => {
    const { records, begin, span } = setUp();
    const call = begin();
    call.sends();
    call.attempted({ fault: 'no answer in time' }, false);
    call.sends();
    vi.advanceTimersByTime(5);
    expect(records.oldestMs()).toBe(5);
    call.ended();
    expect(records.oldestMs()).toBe(0);
    expect(span()?.ends).toEqual([[{ 'http.request.resend_count': 1 }, { type: 'no_answer_in_time' }]]);
  });

  it('adds to the times of its message, and needs neither followers nor spans', () => {
    const { records } = setUp();
    const observation = courseOf({ times: { informationModel: { calls: 1, attempts: 2, ms: 3 } } });
    const call = records.begin(observation, request);
    expect(call.traceparent).toBe(observation.traceparent);
    call.sends();
    vi.advanceTimersByTime(4);
    call.attempted(answer(503), true);
    call.ended();
    expect(observation.times).toEqual({ informationModel: { calls: 2, attempts: 3, ms: 7 } });
  });
});
