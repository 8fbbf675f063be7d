import { z } from 'zod';
import { attributes, count, nanoseconds, resource, scope, type Values, valuesOf } from './values.ts';

/** A span as it came to the collector. */
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
    traceId,
    spanId,
    traceState: z.string().optional(),
    parentSpanId: spanId.optional(),
    flags: count.optional(),
    name: z.string().min(1),
    kind: z.int().min(1).max(5),
    startTimeUnixNano: nanoseconds,
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

const exportRequest = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource,
      schemaUrl: z.string().optional(),
      scopeSpans: z.array(z.strictObject({ scope, spans: z.array(span), schemaUrl: z.string().optional() })),
    }),
  ),
});

/** The spans of a request to `/v1/traces`. @throws Error when it is not one */
export function spansIn(body: unknown): CollectedSpan[] {
  return exportRequest.parse(body).resourceSpans.flatMap((group) => {
    const program = valuesOf(group.resource.attributes);
    return group.scopeSpans.flatMap(({ spans }) => spans.map((one) => collected(one, program)));
  });
}

const collected = (one: z.infer<typeof span>, program: Values): CollectedSpan => ({
  name: one.name,
  kind: kinds[one.kind] ?? 'unspecified',
  traceId: one.traceId,
  spanId: one.spanId,
  parentSpanId: one.parentSpanId,
  attributes: valuesOf(one.attributes),
  events: one.events.map(({ name, attributes: own }) => ({ name, attributes: valuesOf(own) })),
  links: one.links.map(({ flags, ...link }) => ({
    traceId: link.traceId,
    spanId: link.spanId,
    isSampled: flags % 2 === 1,
  })),
  isError: one.status.code === errorCode,
  message: one.status.message,
  resource: program,
});
