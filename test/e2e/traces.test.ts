import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { spawn } from '../../sandbox/service/endWithUs.ts';
import { freePort } from '../../sandbox/service/freePort.ts';
import { projectDirectory } from '../../sandbox/state/directories.ts';
import { envelope } from '../../sandbox/stories/wire.ts';
import { createLog } from '../../src/observing/log.ts';
import { readSettings } from '../../src/settings/config.ts';
import { openDeadLetters } from '../../src/stores/open.ts';
import { startCollector } from '../support/collector.ts';
import type { CollectedSpan } from '../support/otlp.ts';
import { deviceForAll, nextAck, sandboxForAll } from './testSandbox.ts';

// Spans of the service as it is deployed, at a collector (D105 to D109).

type Line = Readonly<Record<string, unknown>>;

const sandbox = sandboxForAll({ service: false });
const device = deviceForAll(sandbox);
const collector = startForAll(startCollector);
let logged = 0;

/** Runs the service with these variables; returns the lines of its log. */
async function serve(variables: Readonly<Record<string, string>>, work: () => Promise<void>): Promise<Line[]> {
  const { environment, logFile } = sandbox.state.service;
  for (const name of Object.keys(environment)) if (name.startsWith('OTEL_')) delete environment[name];
  Object.assign(environment, { OTEL_METRICS_EXPORTER: 'none' }, variables);
  const service = await sandbox.startService();
  await work();
  await service.stop();
  expect(await service.exited).toMatchObject({ code: 0 });
  const lines = (await readFile(logFile, 'utf8')).trimEnd().split('\n').slice(logged);
  logged += lines.length;
  return lines.map((line) => JSON.parse(line));
}

/** Sends a message that updates the device's identity; returns the code of its acknowledgement. */
async function update(correlationId: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
  const properties = { ...envelope('identity.update', correlationId), ...more };
  await device.send(properties, Buffer.from('{"publicKey":"s3cret public key"}'));
  const { ack, body } = await nextAck(device);
  expect(ack.properties['correlationId']).toBe(correlationId);
  return body.code;
}

const lineOf = (lines: readonly Line[], correlationId: string): Line => {
  const own = lines.filter((line) => line['msg'] === 'handled' && line['correlationId'] === correlationId);
  expect(own).toHaveLength(1);
  return own[0] as Line;
};

const rootIn = (spans: readonly CollectedSpan[]): CollectedSpan => {
  const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined);
  expect(roots).toHaveLength(1);
  return roots[0] as CollectedSpan;
};

const deadLetters = () =>
  openDeadLetters(readSettings(sandbox.state.service.environment, 'no-such-directory'), createLog('silent'));

describe('a service with traces', () => {
  const traces = ['1af7651916cd43dd8448eb211c80319c', '2af7651916cd43dd8448eb211c80319c'] as const;
  const sent = 'b7ad6b7169203331';
  let lines: Line[];
  let since: number;
  beforeAll(async () => {
    const variables = {
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=c0llector-key',
    };
    since = sandbox.backends.journal.last;
    lines = await serve(variables, async () => {
      sandbox.backends.faults.add({ backend: 'principalManager', method: 'PUT', status: 503, times: 1 });
      expect(await update('repeated', { traceparent: `00-${traces[0]}-${sent}-00` })).toBe('ok');
      sandbox.backends.faults.add({ backend: 'principalManager', method: 'PUT', status: 501, times: 1 });
      expect(await update('failed', { traceparent: `00-${traces[1]}-${sent}-01` })).toBe('internal_platform_error');
      expect(await update('without')).toBe('ok');
    });
  });

  const headersOf = (correlationId: string, method: string) =>
    sandbox.backends
      .calls({ since, deviceId: 'pump-1' })
      .filter((call) => call.headers['x-correlation-id'] === correlationId && call.method === method)
      .map((call) => call.headers['traceparent']);

  it('has spans of the message, its calls and its replies in the trace of the device, its log line and the backends', async () => {
    const spans = await collector.trace(traces[0], 4);
    const root = rootIn(spans);
    expect(root).toMatchObject({
      name: 'process identity.update',
      kind: 'consumer',
      links: [{ traceId: traces[0], spanId: sent, isSampled: false }],
      attributes: { 'svc.device.id': 'pump-1', 'messaging.message.conversation_id': 'repeated', 'svc.code': 'ok' },
    });
    expect(lineOf(lines, 'repeated')).toMatchObject({ traceId: traces[0] });
    const children = spans.filter(({ parentSpanId }) => parentSpanId === root.spanId);
    expect(children.map(({ name }) => name)).toEqual(['resolve identity', 'update identity', 'send acknowledgement']);
    const call = children[1];
    expect(headersOf('repeated', 'PUT')).toEqual(Array(2).fill(`00-${traces[0]}-${call?.spanId}-01`));
    expect(call).toMatchObject({
      attributes: {
        'http.request.method': 'PUT',
        'http.response.status_code': expect.any(Number),
        'http.request.resend_count': 1,
        'server.address': '127.0.0.1',
        'server.port': Number(new URL(sandbox.backends.principalManagerUrl).port),
      },
      events: [{ name: 'attempt failed', attributes: { 'error.type': '503' } }],
      isError: false,
    });
    const settled = sandbox.hub.journal.list({ kind: 'c2d' }).map(({ system }) => system.messageId);
    expect(settled).toContain(children[2]?.attributes['messaging.message.id']);
  });
  it('has the same trace in the dead letter of a message', async () => {
    const spans = await collector.trace(traces[1], 3);
    const root = rootIn(spans);
    expect(root).toMatchObject({ isError: true, attributes: { 'error.type': 'internal_platform_error' } });
    expect(lineOf(lines, 'failed')).toMatchObject({ traceId: traces[1] });
    expect(headersOf('failed', 'PUT')[0]).toContain(`00-${traces[1]}-`);
    const letters = deadLetters();
    const [id = ''] = await letters.ids('pump-1');
    expect((await letters.read(id))?.traceparent).toBe(`00-${traces[1]}-${root.spanId}-01`);
  });
  it('has the same trace again when the dead letter is replayed', async () => {
    const env = { PATH: process.env['PATH'], ...sandbox.state.service.environment };
    const replay = spawn(process.execPath, ['dist/deadLetters.js', 'replay'], { cwd: projectDirectory, env });
    expect(await once(replay, 'exit')).toEqual([0, null]);
    expect((await nextAck(device)).body.code).toBe('ok');
    const spans = await collector.spansNamed('process identity.update', 4);
    const roots = spans.filter(({ traceId }) => traceId === traces[1]);
    expect(roots).toMatchObject([
      { resource: { 'service.name': 'device-messaging' } },
      {
        resource: { 'service.name': 'device-messaging-dead-letters' },
        attributes: { 'svc.message.redelivered': true },
      },
    ]);
  });
  it('derives the trace from the event when the device sends none', async () => {
    const { traceId } = lineOf(lines, 'without');
    expect(headersOf('without', 'PUT')[0]).toContain(`00-${traceId}-`);
    const root = rootIn(await collector.trace(String(traceId), 4));
    expect(root.links).toEqual([]);
  });
  it('names the program, its version and the instance of its log', () =>
    expect(collector.spans[0]?.resource).toMatchObject({
      'service.name': 'device-messaging',
      'service.version': lines[0]?.['version'],
      'service.instance.id': lines[0]?.['instance'],
    }));

  it('sends the collector no body, key or token, and only the headers that are meant for it', () => {
    const received = collector.requests.map(({ text }) => text).join('\n');
    const { environment } = sandbox.state.service;
    const keys = Object.values(environment).flatMap((value) => /SharedAccessKey=([^;]+)/.exec(value)?.[1] ?? []);
    expect(keys.length).toBeGreaterThan(0);
    for (const secret of ['s3cret', 'publicKey', 'Bearer', 'c0llector', sandbox.backends.token.clientSecret, ...keys])
      expect(received).not.toContain(secret);
    for (const { headers } of collector.requests) {
      expect(headers).toMatchObject({ 'api-key': 'c0llector-key' });
      expect(headers).not.toHaveProperty('authorization');
    }
    expect(JSON.stringify(lines)).not.toContain('c0llector');
  });
});

describe('a service without traces', () => {
  it.each([
    ['by default', () => ({})],
    ['with an address alone', () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })],
    ['by wish', () => ({ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collector.url })],
  ])('makes no connection to a collector %s', async (_, variables) => {
    const before = collector.connections();
    const lines = await serve(variables(), async () => {
      expect(await update('untraced')).toBe('ok');
    });
    expect(lineOf(lines, 'untraced')['traceId']).toMatch(/^[0-9a-f]{32}$/);
    expect(lines.some(({ event }) => event === 'traces.exported')).toBe(false);
    expect(collector.connections()).toBe(before);
  });
  it('makes no connection when OpenTelemetry is switched off', async () => {
    const before = collector.connections();
    const off = { OTEL_SDK_DISABLED: 'true', OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    await serve(off, async () => {
      expect(await update('disabled')).toBe('ok');
    });
    expect(collector.connections()).toBe(before);
  });
});

describe('a collector', () => {
  afterAll(() => collector.behave('accept'));

  it.each(['down', 'hanging', 'refusing'])(
    'that is %s changes nothing for messages and for a stop, and is one line in the log',
    async (how) => {
      if (how !== 'down') collector.behave(how === 'hanging' ? 'hang' : 'refuse');
      const address = how === 'down' ? `http://127.0.0.1:${await freePort()}` : collector.url;
      const lines = await serve({ OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_ENDPOINT: address }, async () => {
        for (const number of [1, 2, 3]) expect(await update(`${how} ${number}`)).toBe('ok');
      });
      expect(lines.filter(({ event }) => event === 'traces.not_delivered')).toMatchObject([{ level: 'warn' }]);
      expect(lines.map(({ event }) => event)).toContain('program.stopped');
    },
  );
});
