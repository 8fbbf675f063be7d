import { z } from 'zod';
import { immediateFaults, standingFaults } from './schema.ts';

/** A kind of fault, for people. */
export interface FaultKind {
  kind: string;
  happens: 'until cleared' | 'at once';
  what: string;
  /** Its fields, each with what it is for; those that are needed first. */
  fields: Record<string, string>;
  /** The same as JSON Schema, for programs. */
  schema: object;
}

/** Everything that can go wrong on demand. */
export function faultKinds(): FaultKind[] {
  return [
    ...standingFaults.map((schema) => describe(schema, 'until cleared')),
    ...immediateFaults.map((schema) => describe(schema, 'at once')),
  ];
}

type Schema = (typeof standingFaults | typeof immediateFaults)[number];

function describe(schema: Schema, happens: FaultKind['happens']): FaultKind {
  const { kind, ...shape } = schema.shape;
  const fields = Object.entries(shape).map(([name, field]) => {
    const needed = field.safeParse(undefined).success ? '' : 'needed; ';
    return [name, `${needed}${optionsOf(field)}${field.description ?? ''}`] as const;
  });
  const { $schema: _, description: what = '', ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return { kind: kind.value, happens, what, fields: Object.fromEntries(fields), schema: rest };
}

/** The values that a field takes, if they are few. */
function optionsOf(field: unknown): string {
  const inner = (field as { unwrap?: () => unknown }).unwrap?.() ?? field;
  const { options } = inner as { options?: readonly string[] };
  return options ? `${options.join(' | ')}: ` : '';
}
