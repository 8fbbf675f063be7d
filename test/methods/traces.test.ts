import { expect, it } from 'vitest';
import { startForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { startRecording } from '../observing/traces.ts';
import { methodDevice } from './support/methodDevice.ts';
import { conveyor, startTestFrontDoor, type TestFrontDoor } from './support/testFrontDoor.ts';

// The trace of an invocation, with and without spans.

const trace = '0af7651916cd43dd8448eb211c80319c';
const callersSpan = 'b7ad6b7169203331';
const route = 'POST /objects/{objectId}/models/{model}/methods/{method}';

/** Invokes `stop` of a motor that answers; returns its log line and the `traceparent` of each call to a backend. */
async function invoke(setup: TestFrontDoor, flags: string) {
  await startForTest(methodDevice(setup.hub, 'motor-1', (call) => call.respond(200, { status: 7 })));
  const headers = { traceparent: `00-${trace}-${callersSpan}-${flags}` };
  const since = setup.backends.journal.last;
  const reply = await setup.call(conveyor, 'stop', {}, { headers });
  expect(reply.status).toBe(200);
  const line = await setup.lineOf(reply.headers['x-correlation-id']);
  const calls = setup.backends.calls({ since }).filter(({ backend }) => backend !== 'token');
  return { line, traceparents: calls.map((call) => call.headers['traceparent']) };
}

it('an invocation is a server span in the trace of its caller and its log line, linked to the caller, with a child for each call', async () => {
  const { traces, collector } = await startRecording();
  const setup = await startTestFrontDoor({ traces });
  const { line, traceparents } = await invoke(setup, '00');
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

it.each(['00', '01'])(
  'an invocation without spans has the trace of its caller, whose span and sampling flag %s go no further',
  async (flags) => {
    const setup = await startForTest(startTestFrontDoor());
    const { line, traceparents } = await invoke(setup, flags);
    expect(line['traceId']).toBe(trace);
    expect(traceparents).toHaveLength(2);
    const ours = new RegExp(`^00-${trace}-(?!${callersSpan})[0-9a-f]{16}-01$`);
    for (const traceparent of traceparents) expect(traceparent).toMatch(ours);
  },
);
