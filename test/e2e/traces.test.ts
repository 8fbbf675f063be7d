import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { freePort } from '../../sandbox/service/freePort.ts';
import { envelope } from '../../sandbox/stories/wire.ts';
import { createLog } from '../../src/observing/log.ts';
import { readSettings } from '../../src/settings/config.ts';
import { openDeadLetters } from '../../src/stores/open.ts';
import { startCollector } from '../support/collector.ts';
import type { CollectedSpan } from '../support/otlp.ts';
import { runNode } from './commands/run.ts';
import { deviceForAll, nextAck, sandboxForAll } from './testSandbox.ts';

// Spans of the service as it is deployed, at a collector (D105 to D109). What they have: test/dispatch/traces.test.ts and test/observing/spans.test.ts.

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

describe('a service with traces', () => {
  const trace = '1af7651916cd43dd8448eb211c80319c';
  const sent = 'b7ad6b7169203331';
  let lines: Line[];
  beforeAll(async () => {
    const variables = {
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=c0llector-key',
    };
    lines = await serve(variables, async () => {
      sandbox.backends.faults.add({ backend: 'principalManager', method: 'PUT', status: 501, times: 1 });
      expect(await update('failed', { traceparent: `00-${trace}-${sent}-01` })).toBe('internal_platform_error');
    });
  });

  it('has spans of a message, its calls and its reply in the trace of the device, its log line, the backends and its dead letter', async () => {
    const spans = await collector.trace(trace, 3);
    const root = rootIn(spans);
    expect(root).toMatchObject({
      ...{ name: 'process identity.update', links: [{ traceId: trace, spanId: sent }], isError: true },
      resource: {
        'service.name': 'device-messaging',
        'service.version': lines[0]?.['version'],
        'service.instance.id': lines[0]?.['instance'],
      },
    });
    expect(lineOf(lines, 'failed')).toMatchObject({ traceId: trace });
    const children = spans.filter(({ parentSpanId }) => parentSpanId === root.spanId);
    expect(children.map(({ name }) => name)).toEqual(['resolve identity', 'update identity', 'send acknowledgement']);
    const put = sandbox.backends.calls({ deviceId: 'pump-1' }).find(({ method }) => method === 'PUT');
    expect(put?.headers['traceparent']).toBe(`00-${trace}-${children[1]?.spanId}-01`);
    const letters = openDeadLetters(
      readSettings(sandbox.state.service.environment, 'no-such-directory'),
      createLog('silent'),
    );
    const [id = ''] = await letters.ids('pump-1');
    expect((await letters.read(id))?.traceparent).toBe(`00-${trace}-${root.spanId}-01`);
  });
  it('has the same trace again when the dead letter is replayed', async () => {
    expect(await runNode(['dist/deadLetters.js', 'replay'], sandbox.state.service.environment)).toMatchObject({
      code: 0,
    });
    expect((await nextAck(device)).body.code).toBe('ok');
    expect((await collector.spansNamed('process identity.update', 2))[1]).toMatchObject({
      ...{ traceId: trace, resource: { 'service.name': 'device-messaging-dead-letters' } },
      attributes: { 'svc.message.redelivered': true },
    });
  });
  it('sends the collector no body, key or token', () => {
    const received = collector.requests.map(({ text }) => text).join('\n');
    const { environment } = sandbox.state.service;
    const keys = Object.values(environment).flatMap((value) => /SharedAccessKey=([^;]+)/.exec(value)?.[1] ?? []);
    expect(keys.length).toBeGreaterThan(0);
    for (const secret of ['s3cret', 'publicKey', 'Bearer', 'c0llector', sandbox.backends.token.clientSecret, ...keys])
      expect(received).not.toContain(secret);
    expect(JSON.stringify(lines)).not.toContain('c0llector');
  });
});

it('a service makes no connection to a collector of which it has only the address', async () => {
  const before = collector.connections();
  const lines = await serve({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, async () => {
    expect(await update('untraced')).toBe('ok');
  });
  expect(lineOf(lines, 'untraced')['traceId']).toMatch(/^[0-9a-f]{32}$/);
  expect(collector.connections()).toBe(before);
});

it('a collector that is down changes nothing for messages and for a stop, and is one line in the log', async () => {
  const address = `http://127.0.0.1:${await freePort()}`;
  const lines = await serve({ OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_ENDPOINT: address }, async () => {
    for (const number of [1, 2, 3]) expect(await update(`down ${number}`)).toBe('ok');
  });
  expect(lines.filter(({ event }) => event === 'traces.not_delivered')).toMatchObject([{ level: 'warn' }]);
  expect(lines.map(({ event }) => event)).toContain('program.stopped');
});
