import { describe, expect, it } from 'vitest';
import { startRecording } from '../observing/traces.ts';
import { methodDevice } from './support/methodDevice.ts';
import { conveyor, startTestFrontDoor } from './support/testFrontDoor.ts';

// The trace of an invocation, with and without spans.

const trace = '0af7651916cd43dd8448eb211c80319c';
const callersSpan = 'b7ad6b7169203331';
const route = 'POST /objects/{objectId}/models/{model}/methods/{method}';
const headersWith = (flags: string) => ({ traceparent: `00-${trace}-${callersSpan}-${flags}` });

/** Invokes `stop` of a motor that answers; returns its log line and the `traceparent` of each call to a backend. */
async function invoke(setup: Awaited<ReturnType<typeof startTestFrontDoor>>, headers: Record<string, string>) {
  const motor = await methodDevice(setup.hub, 'motor-1', (call) => call.respond(200, { status: 7 }));
  const since = setup.backends.journal.last;
  const reply = await setup.call(conveyor, 'stop', {}, { headers });
  expect(reply.status).toBe(200);
  const line = await setup.lineOf(reply.headers['x-correlation-id']);
  await motor.close();
  const calls = setup.backends.calls({ since }).filter(({ backend }) => backend !== 'token');
  return { line, traceparents: calls.map((call) => call.headers['traceparent']) };
}

describe('an invocation with spans', () => {
  it('is a server span in the trace of its caller and its log line, linked to the caller, with a child for each call', async () => {
    const { traces, collector } = await startRecording();
    const setup = await startTestFrontDoor({ traces });
    const { line, traceparents } = await invoke(setup, headersWith('00'));
    const tokens = Object.values(setup.tokens);
    await setup.close();
    const spans = await collector.trace(trace, 4);
    const [root] = spans.filter(({ kind }) => kind === 'server');
    expect(line['traceId']).toBe(trace);
    expect(root).toMatchObject({
      name: route,
      parentSpanId: undefined,
      links: [{ traceId: trace, spanId: callersSpan, isSampled: false }],
      isError: false,
    });
    expect(root?.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/objects/{objectId}/models/{model}/methods/{method}',
      ...{ 'http.response.status_code': 200, 'svc.correlation_id': line['correlationId'] },
      ...{ 'svc.object.id': line['objectId'], 'svc.model': 'svc.device', 'svc.method': 'stop' },
      ...{ 'svc.device.id': 'motor-1', 'svc.method.status': 7 },
    });
    const children = spans.filter(({ parentSpanId }) => parentSpanId === root?.spanId);
    expect(children.map(({ name, kind }) => [name, kind])).toEqual([
      ['read object model', 'client'],
      ['read type definition', 'client'],
      ['invoke direct method', 'client'],
    ]);
    expect(traceparents).toEqual(children.slice(0, 2).map(({ spanId }) => `00-${trace}-${spanId}-01`));
    expect(children[2]?.attributes).toEqual({
      ...{ 'http.request.method': 'POST', 'server.address': 'localhost', 'http.response.status_code': 200 },
      ...{ 'svc.device.id': 'motor-1', 'svc.device.status': 200 },
    });
    const sent = collector.requests.map(({ text }) => text).join();
    for (const secret of [...tokens, setup.backends.token.clientSecret]) expect(sent).not.toContain(secret);
  });

  it('that is refused is not an error of the span, and one that fails on the service’s side is', async () => {
    const { traces, collector } = await startRecording();
    const setup = await startTestFrontDoor({ traces });
    const refused = await setup.call(conveyor, 'stop', {}, { token: setup.tokens.reader, headers: headersWith('01') });
    const offline = await setup.call(conveyor, 'stop', {}, { headers: headersWith('01') });
    expect([refused.status, offline.status]).toEqual([403, 503]);
    await setup.close();
    const roots = (await collector.spansNamed(route, 2)).map(({ isError, attributes }) => [isError, attributes]);
    expect(roots).toMatchObject([
      [false, { 'http.response.status_code': 403, 'svc.reason': 'forbidden' }],
      [true, { 'http.response.status_code': 503, 'error.type': 'device_offline' }],
    ]);
    expect(await collector.spansNamed('invoke direct method')).toMatchObject([
      { isError: true, attributes: { 'error.type': 'device_offline' } },
    ]);
  });
});

describe('an invocation without spans', () => {
  it.each(['00', '01'])('has the trace of its caller, whose span and sampling flag %s go no further', async (flags) => {
    const setup = await startTestFrontDoor();
    const { line, traceparents } = await invoke(setup, headersWith(flags));
    await setup.close();
    expect(line['traceId']).toBe(trace);
    expect(traceparents).toHaveLength(2);
    const ours = new RegExp(`^00-${trace}-(?!${callersSpan})[0-9a-f]{16}-01$`);
    for (const traceparent of traceparents) expect(traceparent).toMatch(ours);
  });

  it('has a new trace when its caller sends none, also when it is refused', async () => {
    const setup = await startTestFrontDoor();
    const first = await invoke(setup, {});
    const second = await invoke(setup, { traceparent: 'none' });
    const { headers } = await setup.call(conveyor, 'stop', {}, { token: '' });
    const refused = await setup.lineOf(headers['x-correlation-id']);
    await setup.close();
    const ids = [first.line, second.line, refused].map((line) => line['traceId']);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(new Set(ids).size).toBe(3);
    expect(first.traceparents[0]).toContain(ids[0]);
  });
});
