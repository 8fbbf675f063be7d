import { describe, expect, it, vi } from 'vitest';
import { openTraces } from '../../src/observing/traces.ts';
import { keyAt, type Recording, rootOf, sent, startRecording, traceId } from './traces.ts';

describe('the first span of a message', () => {
  it('is in the given trace, without a parent, with a link to its sender’s span, and names the program', async () => {
    const { traces, collector } = await startRecording();
    const attributes = { 'svc.device.id': 'd1', 'svc.replies.sent': 2 };
    const root = traces.begin(rootOf({ attributes: { ...attributes, left: undefined } }));
    expect(root.traceparent).toMatch(new RegExp(`^00-${traceId}-[\\da-f]{16}-01$`));
    root.end();
    const [span] = await collector.spansNamed('process model.update');
    expect(span).toMatchObject({
      ...{ kind: 'consumer', traceId, spanId: root.traceparent.slice(36, 52), parentSpanId: undefined },
      links: [{ ...sent, isSampled: false }],
      ...{ attributes, isError: false },
      resource: { 'service.name': 'test', 'service.version': '1.2.3', 'service.instance.id': 'here-1' },
    });
    expect(span?.attributes).not.toHaveProperty('left');
  });

  it('has no link when its sender sent no trace', async () => {
    const { traces, collector } = await startRecording();
    traces.begin(rootOf({ link: undefined })).end();
    expect(await collector.spansNamed('process model.update')).toMatchObject([{ traceId, links: [] }]);
  });

  it('has the attributes of the standard variables about the program', async () => {
    vi.stubEnv('OTEL_SERVICE_NAME', 'pumps');
    vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment.name=test');
    const { traces, collector } = await startRecording();
    traces.begin(rootOf()).end();
    const [span] = await collector.spansNamed('process model.update');
    const named = { 'service.name': 'pumps', 'deployment.environment.name': 'test', 'service.version': '1.2.3' };
    expect(span?.resource).toMatchObject(named);
  });
});

it('a child is in the trace of its parent, and requests name it', async () => {
  const { traces, collector } = await startRecording();
  const root = traces.begin(rootOf());
  const child = root.child('replace object model', 'client', { 'http.request.method': 'PUT' });
  const grandchild = child.child('look up', 'client', {});
  const reply = root.child('send acknowledgement', 'producer', {});
  child.event('attempt failed', { 'error.type': '503' });
  for (const span of [grandchild, child, reply, root]) span.end();
  const spans = await collector.trace(traceId, 4);
  const idOf = (traceparent: string) => traceparent.slice(36, 52);
  expect(Object.fromEntries(spans.map(({ name, parentSpanId }) => [name, parentSpanId]))).toEqual({
    'process model.update': undefined,
    'replace object model': idOf(root.traceparent),
    'look up': idOf(child.traceparent),
    'send acknowledgement': idOf(root.traceparent),
  });
  expect(spans.find(({ name }) => name === 'replace object model')).toMatchObject({
    kind: 'client',
    spanId: idOf(child.traceparent),
    events: [{ name: 'attempt failed', attributes: { 'error.type': '503' } }],
    links: [],
  });
  expect(spans.find(({ name }) => name === 'send acknowledgement')?.kind).toBe('producer');
  for (const { traceparent } of [child, grandchild, reply]) expect(traceparent).toMatch(/-01$/);
});

describe('a span', () => {
  it('ends once: later attributes do not count', async () => {
    const { traces, collector } = await startRecording();
    const root = traces.begin(rootOf());
    root.end({ 'svc.code': 'timeout_exceeded' }, { type: 'timeout_exceeded', message: 'too late' });
    root.event('late', {});
    root.end({ 'svc.code': 'ok' });
    traces.begin(rootOf({ name: 'another' })).end();
    await collector.spansNamed('another');
    const attributes = { 'svc.code': 'timeout_exceeded', 'error.type': 'timeout_exceeded' };
    const ended = collector.spans.filter(({ name }) => name === 'process model.update');
    expect(ended).toMatchObject([{ attributes, isError: true, message: 'too late', events: [] }]);
  });

  it('has at most 256 whole characters of each text', async () => {
    const { traces, collector } = await startRecording();
    const long = `${'x'.repeat(255)}😀${'y'.repeat(100_000)}`;
    const root = traces.begin(rootOf({ attributes: { long, broken: 'a\ud800b' } }));
    root.event('attempt failed', { long });
    root.end({ later: long }, { type: 'x', message: long });
    const [span] = await collector.spansNamed('process model.update');
    const cut = `${'x'.repeat(255)}\ufffd`;
    expect(span).toMatchObject({
      attributes: { long: cut, later: cut, broken: 'a\ufffdb' },
      events: [{ attributes: { long: cut } }],
      message: cut,
    });
  });
});

describe('sampling', () => {
  const ratio = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' };

  it('follows an id that no sender can choose, not the device’s trace', async () => {
    const { traces, collector } = await startRecording(ratio);
    const lowest = '00000000000000000000000000000001';
    const highest = 'ffffffff000000000000000000000001';
    const roots = [keyAt(0.2), keyAt(0.8)].flatMap((samplingKey) =>
      [lowest, highest].map((chosen) => traces.begin(rootOf({ samplingKey, traceId: chosen, name: samplingKey }))),
    );
    const told = roots.map(({ traceparent }) => traceparent.slice(3, 35) + traceparent.slice(-3));
    expect(told).toEqual([`${lowest}-01`, `${highest}-01`, `${lowest}-00`, `${highest}-00`]);
    for (const root of roots) root.end();
    await collector.spansNamed(keyAt(0.2), 2);
    expect(collector.spans).toHaveLength(2);
  });

  it('leaves out all spans of a message: requests tell the backends', async () => {
    const { traces, collector } = await startRecording(ratio);
    const root = traces.begin(rootOf({ samplingKey: keyAt(0.9) }));
    const child = root.child('replace object model', 'client', {});
    expect(child.traceparent).toMatch(new RegExp(`^00-${traceId}-[\\da-f]{16}-00$`));
    child.event('attempt failed', {});
    child.end();
    root.end();
    traces.begin(rootOf({ name: 'another', samplingKey: keyAt(0.1) })).end();
    await collector.spansNamed('another');
    expect(collector.spans).toHaveLength(1);
  });
});

it('without traces enabled no span is created, and nothing is logged', async () => {
  const silent = () => expect.unreachable('a line in the log');
  const log = { level: 'info', debug: silent, info: silent, warn: silent, error: silent, fatal: silent };
  const program = { service: 'test', version: '1', instance: 'here', log };
  expect(await openTraces({}, program)).toBeUndefined();
});

const failures = ({ lines }: Recording) => lines.filter(({ event }) => event === 'traces.not_delivered');

/** Spans until one of them has come to the collector, whatever becomes of it. */
async function oneComes({ traces, collector }: Recording) {
  const before = collector.requests.length;
  traces.begin(rootOf()).end();
  await vi.waitFor(() => expect(collector.requests.length).toBeGreaterThan(before), { timeout: 30_000 });
}

it('a collector that refuses spans has one line in the log, not one for each request, and another at its end', async () => {
  const recording = await startRecording();
  const { collector, lines } = recording;
  collector.behave('refuse');
  await oneComes(recording);
  await vi.waitFor(() => expect(failures(recording)).toHaveLength(1), { timeout: 30_000 });
  await oneComes(recording);
  await oneComes(recording);
  expect(failures(recording)).toMatchObject([{ level: 'warn', err: { code: 400 } }]);
  collector.behave('accept');
  await oneComes(recording);
  const over = () => lines.filter(({ event }) => event === 'trouble.over');
  await vi.waitFor(() => expect(over()).toHaveLength(1), { timeout: 30_000 });
  expect(over()).toMatchObject([{ trouble: 'traces.not_delivered' }]);
});

it('a collector that refuses spans is no trouble any more after a stop', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const recording = await startRecording();
  recording.collector.behave('refuse');
  await oneComes(recording);
  await vi.waitFor(() => expect(failures(recording)).toHaveLength(1), { timeout: 30_000 });
  await recording.traces.close();
  expect(vi.getTimerCount()).toBe(0);
});

it('a collector that hangs delays no message: spans beyond the queue are dropped and counted, and a stop ends', async () => {
  const recording = await startRecording();
  const { traces, collector, lines } = recording;
  collector.behave('hang');
  const most = 512 + 4_096;
  for (let spans = 0; spans < most; spans += 1) traces.begin(rootOf()).end();
  await vi.waitFor(() => expect(collector.requests).toHaveLength(1), { timeout: 30_000 });
  const dropped = () => lines.filter(({ event }) => event === 'traces.dropped');
  expect(dropped()).toEqual([]);
  traces.begin(rootOf()).end();
  traces.begin(rootOf()).end();
  expect(dropped()).toMatchObject([{ level: 'warn' }]);
  await traces.close();
  expect(failures(recording)).toMatchObject([{ err: { type: 'TooLate' } }]);
});

it('a slow collector gets every span, also the last ones', async () => {
  const { traces, collector } = await startRecording();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }); // a stop has no limit on a busy machine
  collector.behave('slow');
  const many = 2_000;
  for (let spans = 0; spans < many; spans += 1) traces.begin(rootOf()).end();
  await traces.close();
  expect(collector.spans).toHaveLength(many);
});

it('the exporter sends only the given headers, and makes no spans of its own requests', async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'api-key=c0llector-key');
  const { traces, collector, lines } = await startRecording();
  traces.begin(rootOf()).end();
  await collector.spansNamed('process model.update');
  traces.begin(rootOf({ name: 'another' })).end();
  await collector.spansNamed('another');
  expect(collector.spans).toHaveLength(2);
  for (const { headers } of collector.requests) {
    expect(headers).toMatchObject({ 'api-key': 'c0llector-key' });
    expect(headers).not.toHaveProperty('authorization');
  }
  expect(JSON.stringify(lines)).not.toContain('c0llector-key');
});
