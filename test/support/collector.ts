import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { expect, vi } from 'vitest';
import { listening } from '../../iot-hub-emulator/test/support/listening.ts';
import { type CollectedMetrics, type CollectedSpan, metricsIn, spansIn } from './otlp.ts';

/** What it does with a request: `refuse` is HTTP 400, which is final; `hang` is no answer at all. */
type Behaviour = 'accept' | 'refuse' | 'slow' | 'hang';

interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** After decompression. */
  readonly text: string;
}

type Collected = Readonly<{ spans: CollectedSpan[]; metrics: CollectedMetrics[] }>;

/** Each signal by its path: how what it brings is read and kept. */
const signals: Readonly<Record<string, (body: unknown, collected: Collected) => void>> = {
  '/v1/traces': (body, { spans }) => spans.push(...spansIn(body)),
  '/v1/metrics': (body, { metrics }) => metrics.push(metricsIn(body)),
};

const slowMs = 300;

export type Collector = Awaited<ReturnType<typeof startCollector>>;

/** A collector of OpenTelemetry: OTLP over HTTP, in JSON. It checks the protocol of what it receives. */
export async function startCollector() {
  const collected: Collected = { spans: [], metrics: [] };
  const requests: ReceivedRequest[] = [];
  const breaches: string[] = [];
  let behaviour: Behaviour = 'accept';
  let connections = 0;

  async function received(request: IncomingMessage): Promise<number> {
    const { method, url: path = '', headers } = request;
    const bytes = await buffer(request);
    const isZipped = headers['content-encoding'] === 'gzip';
    const text = (isZipped ? gunzipSync(bytes) : bytes).toString('utf8');
    requests.push({ path, headers, text });
    if (behaviour === 'refuse') return 400;
    try {
      expect(method).toBe('POST');
      expect(Object.keys(signals)).toContain(path);
      expect(headers['content-type']).toBe('application/json');
      signals[path]?.(JSON.parse(text), collected);
      return 200;
    } catch (error) {
      breaches.push(`${method} ${path}: ${error instanceof Error ? error.message : error}`);
      return 400;
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const status = await received(request);
      if (behaviour === 'hang') return;
      if (behaviour === 'slow') await sleep(slowMs);
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    } catch {
      response.destroy(); // the sender has gone
    }
  }
  const server = createServer((request, response) => void answer(request, response));
  server.on('connection', () => {
    connections += 1;
  });
  const { port, close } = await listening(server);

  async function enough(isIt: (span: CollectedSpan) => boolean, count: number): Promise<CollectedSpan[]> {
    const found = () => collected.spans.filter(isIt);
    await vi.waitFor(() => expect(found().length).toBeGreaterThanOrEqual(count), { timeout: 30_000, interval: 25 });
    return found();
  }

  return {
    /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
    url: `http://127.0.0.1:${port}`,
    /** Of all requests that it accepted, in order of arrival. */
    ...collected,
    /** All requests as they came, the refused ones included. */
    requests: requests as readonly ReceivedRequest[],
    connections: () => connections,
    behave(next: Behaviour) {
      behaviour = next;
    },
    /** Resolves with the spans when so many of this name, or more, have come. */
    spansNamed: (name: string, count = 1) => enough((span) => span.name === name, count),
    /** The spans of a trace, when `count` of them have come. */
    trace: (traceId: string, count: number) => enough((span) => span.traceId === traceId, count),
    /** Fails the test when anything was against the protocol. */
    async close() {
      await close();
      expect(breaches, 'what was sent to the collector against the protocol').toEqual([]);
    },
  };
}
