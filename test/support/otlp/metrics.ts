import { z } from 'zod';
import { attributes, count, nanoseconds, resource, scope } from './values.ts';

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
    count,
    sum: z.number().optional(),
    min: z.number().optional(),
    max: z.number().optional(),
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

const exportRequest = z.strictObject({
  resourceMetrics: z.array(
    z.strictObject({ resource, scopeMetrics: z.array(z.strictObject({ scope, metrics: z.array(metric) })) }),
  ),
});

/** The metrics of one request. */
export type CollectedMetrics = z.infer<typeof exportRequest>;

/** A request to `/v1/metrics`. @throws Error when it is not one */
export const metricsIn = (body: unknown): CollectedMetrics => exportRequest.parse(body);
