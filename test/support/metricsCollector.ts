import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { z } from 'zod';

// What OTLP over HTTP asks of a request with metrics, in JSON: opentelemetry-proto, metrics/v1.

const attribute = z.strictObject({
  key: z.string().min(1),
  value: z.union([
    z.strictObject({ stringValue: z.string() }),
    z.strictObject({ intValue: z.union([z.int(), z.string().regex(/^-?\d+$/)]) }),
    z.strictObject({ doubleValue: z.number() }),
    z.strictObject({ boolValue: z.boolean() }),
    z.strictObject({ arrayValue: z.unknown() }),
  ]),
});
const attributes = z.array(attribute);
const nanoseconds = z.string().regex(/^\d{19}$/);
const integer = z.union([z.int(), z.string().regex(/^-?\d+$/)]);
const times = { attributes, startTimeUnixNano: nanoseconds, timeUnixNano: nanoseconds };
const number = z.union([
  z.strictObject({ ...times, asInt: integer }),
  z.strictObject({ ...times, asDouble: z.number() }),
]);
const distribution = z
  .strictObject({
    ...times,
    count: z.int(),
    sum: z.number().optional(),
    min: z.number().optional(),
    max: z.number().optional(),
    bucketCounts: z.array(z.int()),
    explicitBounds: z.array(z.number()),
  })
  .refine((one) => one.bucketCounts.length === one.explicitBounds.length + 1, 'one bucket more than bounds')
  .refine((one) => one.bucketCounts.reduce((sum, own) => sum + own, 0) === one.count, 'the buckets are the count');
const cumulative = z.literal(2);
const named = { name: z.string().min(1), description: z.string(), unit: z.string() };
const metric = z.union([
  z.strictObject({ ...named, gauge: z.strictObject({ dataPoints: z.array(number) }) }),
  z.strictObject({
    ...named,
    sum: z.strictObject({
      aggregationTemporality: cumulative,
      isMonotonic: z.boolean(),
      dataPoints: z.array(number),
    }),
  }),
  z.strictObject({
    ...named,
    histogram: z.strictObject({ aggregationTemporality: cumulative, dataPoints: z.array(distribution) }),
  }),
]);
const request = z.strictObject({
  resourceMetrics: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes, droppedAttributesCount: z.literal(0) }),
      scopeMetrics: z.array(
        z.strictObject({ scope: z.strictObject({ name: z.string().min(1) }), metrics: z.array(metric) }),
      ),
    }),
  ),
});
export type MetricsRequest = z.infer<typeof request>;

/** Stands in for an OpenTelemetry collector: takes metrics by OTLP over HTTP, and nothing else. */
export interface MetricsCollector {
  readonly url: string;
  /** Every request that keeps to the protocol. */
  readonly received: readonly MetricsRequest[];
  /** The headers of the latest request. */
  headers(): Readonly<Record<string, unknown>>;
  /** What others break of the protocol. */
  readonly breaches: readonly string[];
  /** From now on answers this status, or nothing at all. */
  answerWith(status: number | 'nothing'): void;
  close(): Promise<void>;
}

export async function startMetricsCollector(): Promise<MetricsCollector> {
  const received: MetricsRequest[] = [];
  const breaches: string[] = [];
  let headers: Readonly<Record<string, unknown>> = {};
  let answer: number | 'nothing' = 200;

  function respond(response: ServerResponse, status: number, body: object) {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  const server = createServer((incoming, response) => {
    headers = incoming.headers;
    if (answer === 'nothing') return;
    if (answer !== 200) {
      respond(response, answer, { code: 3, message: 'refused' });
      return;
    }
    const { method, url, headers: own } = incoming;
    const route = `${method} ${url} ${own['content-type']}`;
    if (route !== 'POST /v1/metrics application/json') breaches.push(route);
    void json(incoming)
      .then((body) => received.push(request.parse(body)))
      .catch((error: Error) => breaches.push(error.message))
      .finally(() => respond(response, breaches.length === 0 ? 200 : 400, {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    breaches,
    headers: () => headers,
    answerWith(next) {
      answer = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
