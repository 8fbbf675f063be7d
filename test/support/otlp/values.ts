import { z } from 'zod';

/** What all signals of OTLP have in common, in JSON (opentelemetry.proto.common.v1 and resource.v1). */

export const count = z.int().min(0);
/** A 64-bit number is text. */
export const nanoseconds = z.string().regex(/^\d{1,20}$/);

const anyValue = z.union([
  z.strictObject({ stringValue: z.string().refine((text) => text.isWellFormed()) }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: z.union([z.int(), z.string().regex(/^-?\d{1,20}$/)]) }),
  z.strictObject({ doubleValue: z.number() }),
]);

export const attributes = z.array(z.strictObject({ key: z.string().min(1), value: anyValue }));
export type Values = Readonly<Record<string, unknown>>;

export const resource = z.strictObject({ attributes, droppedAttributesCount: count.optional() });
export const scope = z.strictObject({ name: z.string(), version: z.string().optional() });

/** By their keys, none of which may stand there twice. */
export function valuesOf(given: z.infer<typeof attributes>): Values {
  const entries = given.map(({ key, value }) => [key, Object.values(value)[0]] as const);
  const values = Object.fromEntries(entries);
  if (Object.keys(values).length < entries.length) throw new Error('an attribute stands there twice');
  return values;
}
