import { z } from 'zod';

/** What all signals of OTLP have in common, in JSON (opentelemetry.proto.common.v1 and resource.v1). */

const count = z.int().min(0);
/** A 64-bit number is text. */
const nanoseconds = z.string().regex(/^\d{1,20}$/);

const anyValue = z.union([
  z.strictObject({ stringValue: z.string().refine((text) => text.isWellFormed()) }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: z.union([z.int(), z.string().regex(/^-?\d{1,20}$/)]) }),
  z.strictObject({ doubleValue: z.number() }),
]);

const attributes = z.array(z.strictObject({ key: z.string().min(1), value: anyValue }));
type Values = Readonly<Record<string, unknown>>;

const resource = z.strictObject({ attributes, droppedAttributesCount: count.optional() });
const scope = z.strictObject({ name: z.string(), version: z.string().optional() });

/** By their keys, none of which may stand there twice. */
function valuesOf(given: z.infer<typeof attributes>): Values {
  const entries = given.map(({ key, value }) => [key, Object.values(value)[0]] as const);
  const values = Object.fromEntries(entries);
  if (Object.keys(values).length < entries.length) throw new Error('an attribute stands there twice');
  return values;
}

/** A number of 64 bits may be text. */
const integer = z.union([z.int(), z.string().regex(/^-?\d+$/)]);
const times = { attributes, startTimeUnixNano: nanoseconds, timeUnixNano: nanoseconds };
const number = z.union([
  z.strictObject({ ...times, asInt: integer }),
  z.strictObject({ ...times, asDouble: z.number() }),
]);
const distribution = z
  .strictObject({
    ...times,
    ...{ count, sum: z.number().optional(), min: z.number().optional(), max: z.number().optional() },
    bucketCounts: z.array(count),
    explicitBounds: z.array(z.number()),
  })
  .refine((one) => one.bucketCounts.length === one.explicitBounds.length + 1, 'one bucket more than bounds')
  .refine((one) => one.bucketCounts.reduce((sum, own) => sum + own, 0) === one.count, 'the buckets are the count');
const cumulative = z.literal(2);
const named = { name: z.string().min(1), description: z.string(), unit: z.string() };

/** opentelemetry.proto.metrics.v1 */
const metric = z.union([
  z.strictObject({ ...named, gauge: z.strictObject({ dataPoints: z.array(number) }) }),
  z.strictObject({
    ...named,
    sum: z.strictObject({ aggregationTemporality: cumulative, isMonotonic: z.boolean(), dataPoints: z.array(number) }),
  }),
  z.strictObject({
    ...named,
    histogram: z.strictObject({ aggregationTemporality: cumulative, dataPoints: z.array(distribution) }),
  }),
]);

const metricsRequest = z.strictObject({
  resourceMetrics: z.array(
    z.strictObject({ resource, scopeMetrics: z.array(z.strictObject({ scope, metrics: z.array(metric) })) }),
  ),
});

export type CollectedMetrics = z.infer<typeof metricsRequest>;

/** A request to `/v1/metrics`. @throws Error when it is not one */
export const metricsIn = (body: unknown): CollectedMetrics => metricsRequest.parse(body);

export interface CollectedSpan {
  readonly name: string;
  readonly kind: (typeof kinds)[number];
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly attributes: Values;
  readonly events: readonly { readonly name: string; readonly attributes: Values }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string; readonly isSampled: boolean }[];
  readonly isError: boolean;
  readonly message: string | undefined;
  /** Of the program that sent it. */
  readonly resource: Values;
}

const kinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const;
const errorCode = 2;

const traceId = z.string().regex(/^(?!0{32})[\da-f]{32}$/);
const spanId = z.string().regex(/^(?!0{16})[\da-f]{16}$/);
const dropped = { droppedAttributesCount: count.optional() };

/** opentelemetry.proto.trace.v1 */
const span = z
  .strictObject({
    ...{ traceId, spanId, traceState: z.string().optional(), parentSpanId: spanId.optional(), flags: count.optional() },
    ...{ name: z.string().min(1), kind: z.int().min(1).max(5), startTimeUnixNano: nanoseconds },
    endTimeUnixNano: nanoseconds,
    attributes,
    ...dropped,
    events: z.array(z.strictObject({ name: z.string().min(1), timeUnixNano: nanoseconds, attributes, ...dropped })),
    droppedEventsCount: count.optional(),
    links: z.array(
      z.strictObject({ traceId, spanId, traceState: z.string().optional(), attributes, flags: count, ...dropped }),
    ),
    droppedLinksCount: count.optional(),
    status: z.strictObject({ code: z.int().min(0).max(2).optional(), message: z.string().optional() }),
  })
  .refine(({ startTimeUnixNano, endTimeUnixNano }) => BigInt(startTimeUnixNano) <= BigInt(endTimeUnixNano));

const spansRequest = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource,
      schemaUrl: z.string().optional(),
      scopeSpans: z.array(z.strictObject({ scope, spans: z.array(span), schemaUrl: z.string().optional() })),
    }),
  ),
});

/** The spans of a request to `/v1/traces`. @throws Error when it is not one */
export const spansIn = (body: unknown): CollectedSpan[] =>
  spansRequest.parse(body).resourceSpans.flatMap((group) => {
    const program = valuesOf(group.resource.attributes);
    return group.scopeSpans.flatMap(({ spans }) => spans.map((one) => collected(one, program)));
  });

const collected = (one: z.infer<typeof span>, program: Values): CollectedSpan => ({
  ...{ name: one.name, kind: kinds[one.kind] ?? 'unspecified', traceId: one.traceId, spanId: one.spanId },
  parentSpanId: one.parentSpanId,
  attributes: valuesOf(one.attributes),
  events: one.events.map(({ name, attributes: own }) => ({ name, attributes: valuesOf(own) })),
  links: one.links.map(({ flags, ...link }) => ({
    traceId: link.traceId,
    spanId: link.spanId,
    isSampled: flags % 2 === 1,
  })),
  ...{ isError: one.status.code === errorCode, message: one.status.message, resource: program },
});
