import { describe, expect, it } from 'vitest';
import { derivedTraceId } from '../../src/protocol/ids.ts';
import { startRecording } from '../observing/traces.ts';
import { dispatchEvent } from '../support/dispatching.ts';
import { hubEvent } from '../support/events.ts';
import type { CollectedSpan } from '../support/otlp.ts';
import { pumpBody as body, properties as creation, failing, success } from './support/creation.ts';

const trace = '0af7651916cd43dd8448eb211c80319c';
const devicesSpan = 'b7ad6b7169203331';
const traceparent = `00-${trace}-${devicesSpan}-01`;
const properties = { ...creation, traceparent };
const event = hubEvent({ properties, body });
const rootOf = (spans: readonly CollectedSpan[]): CollectedSpan => {
  const roots = spans.filter(({ kind }) => kind === 'consumer');
  expect(roots).toHaveLength(1);
  return roots[0] as CollectedSpan;
};

describe('the spans of a message', () => {
  it('are one for its handling, and below it one for each backend call and each reply, in the trace of its log line', async () => {
    const { traces, collector } = await startRecording();
    const { logged, calls, replies } = await dispatchEvent(event, success, { traces });
    const spans = await collector.trace(trace, 6);
    const root = rootOf(spans);
    expect(logged.at(-1)).toMatchObject({ msg: 'handled', traceId: trace });
    expect(root).toMatchObject({
      name: 'process model.create',
      parentSpanId: undefined,
      links: [{ traceId: trace, spanId: devicesSpan }],
      isError: false,
    });
    expect(root.attributes).toEqual({
      ...{ 'messaging.system': 'eventhubs', 'messaging.operation.name': 'process' },
      ...{ 'messaging.operation.type': 'process', 'messaging.destination.name': 'hub' },
      'messaging.destination.partition.id': '0',
      'messaging.message.id': expect.stringMatching(/^[\da-f-]{36}$/),
      'messaging.message.conversation_id': 'c-1',
      ...{ 'messaging.eventhubs.message.enqueued_time': 1_767_323_045, 'svc.device.id': 'd1' },
      ...{ 'svc.message.name': 'model.create', 'svc.message.sequence_number': 7, 'svc.code': 'ok' },
      'svc.replies.sent': 1,
    });
    const children = spans.filter(({ parentSpanId }) => parentSpanId === root.spanId);
    expect(children.map(({ name, kind, isError }) => [name, kind, isError])).toEqual([
      ['resolve identity', 'client', false],
      ['read object model', 'client', false], // that there is none was expected
      ['create object model', 'client', false],
      ['read object model', 'client', false],
      ['send acknowledgement', 'producer', false],
    ]);
    const headers = calls.map((call) => call.headers['traceparent']);
    expect(headers).toEqual(children.slice(0, 4).map(({ spanId }) => `00-${trace}-${spanId}-01`));
    expect(children[2]?.attributes).toEqual({
      ...{ 'http.request.method': 'POST', 'server.address': 'im.example', 'server.port': 80 },
      ...{ 'svc.backend': 'information model', 'http.response.status_code': 201 },
    });
    expect(children[4]?.attributes).toEqual({
      ...{ 'messaging.system': 'iothub', 'messaging.operation.name': 'send' },
      ...{ 'messaging.operation.type': 'send', 'messaging.destination.name': 'devicebound' },
      ...{ 'messaging.message.id': replies[0]?.messageId, 'messaging.message.conversation_id': 'c-1' },
      ...{ 'messaging.message.body.size': Buffer.byteLength(replies[0]?.body ?? ''), 'svc.device.id': 'd1' },
    });
  });

  it('of a message without a trace are in one that is made from the event, without a link', async () => {
    const { traces, collector } = await startRecording();
    const { traceparent: _, ...without } = properties;
    const { logged } = await dispatchEvent(hubEvent({ properties: without, body }), success, { traces });
    const root = rootOf(await collector.spansNamed('process model.create'));
    expect(root).toMatchObject({ traceId: logged.at(-1)?.['traceId'], links: [], parentSpanId: undefined });
    expect(root.traceId).toBe(derivedTraceId(String(root.attributes['messaging.message.id'])));
  });

  it('have the trace of the log line, the dead letter and the backends; the dead letter names the handling', async () => {
    const { traces, collector } = await startRecording();
    const { logged, calls, parked } = await dispatchEvent(event, failing, { traces });
    const root = rootOf(await collector.trace(trace, 3));
    expect(logged.at(-1)).toMatchObject({ msg: 'handled', traceId: trace });
    expect(calls[0]?.headers['traceparent']).toMatch(new RegExp(`^00-${trace}-`));
    expect(parked[0]?.traceparent).toBe(`00-${trace}-${root.spanId}-01`);
    expect(root).toMatchObject({
      attributes: { 'svc.code': 'internal_platform_error', 'error.type': 'internal_platform_error' },
      isError: true,
      message: expect.stringMatching(/^internal error, incident /),
    });
    expect(collector.spans.find(({ name }) => name === 'resolve identity')).toMatchObject({
      isError: true,
      attributes: { 'http.response.status_code': 200, 'error.type': 'internal_platform_error' },
    });
  });

  it('without sampling are missing; the trace is the same, and the backends get the flag', async () => {
    const { traces, collector } = await startRecording({ OTEL_TRACES_SAMPLER: 'always_off' });
    const { logged, calls, parked } = await dispatchEvent(event, failing, { traces });
    expect(logged.at(-1)).toMatchObject({ msg: 'handled', traceId: trace });
    const unsampled = new RegExp(`^00-${trace}-[\\da-f]{16}-00$`);
    expect(calls[0]?.headers['traceparent']).toMatch(unsampled);
    expect(parked[0]?.traceparent).toMatch(unsampled);
    await traces.close();
    expect(collector.connections()).toBe(0);
  });
});

it('sampling does not follow the trace that a device has chosen', async () => {
  const { traces } = await startRecording({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' });
  const flags = [];
  for (const own of [`${'0'.repeat(31)}1`, `ffffffff${'0'.repeat(24)}`]) {
    const sent = { ...properties, traceparent: `00-${own}-${devicesSpan}-01` };
    const { calls } = await dispatchEvent(hubEvent({ properties: sent, body }), success, { traces });
    expect(calls[0]?.headers['traceparent']).toContain(own);
    flags.push(calls[0]?.headers['traceparent']?.slice(-2));
  }
  expect(flags[1]).toBe(flags[0]);
});

describe('the span of the handling', () => {
  it('is no error when the device is at fault', async () => {
    const { traces, collector } = await startRecording();
    await dispatchEvent(hubEvent({ properties, body: '{' }), [], { traces });
    const root = rootOf(await collector.spansNamed('process model.create'));
    expect(root).toMatchObject({ isError: false, attributes: { 'svc.code': 'validation_error' } });
    expect(root.attributes).not.toHaveProperty('error.type');
  });

  it('does not have the name of an unknown message', async () => {
    const { traces, collector } = await startRecording();
    await dispatchEvent(hubEvent({ properties: { ...properties, action: 'b0gus.name' } }), [], { traces });
    await collector.spansNamed('process unknown message');
    expect(collector.requests.map(({ text }) => text).join()).not.toContain('b0gus.name');
  });

  it('says that the message may be a repeat, and how many replies were dropped', async () => {
    const { traces, collector } = await startRecording();
    await dispatchEvent(event, success, { traces, redelivered: true, deliver: () => ({ dropped: 'queue_full' }) });
    const spans = await collector.trace(trace, 6);
    const dropped = { 'svc.message.redelivered': true, 'svc.replies.sent': 0, 'svc.replies.dropped': 1 };
    expect(rootOf(spans).attributes).toMatchObject(dropped);
    const expected = { isError: true, attributes: { 'error.type': 'queue_full' } };
    expect(spans.find(({ kind }) => kind === 'producer')).toMatchObject(expected);
  });
});
