import { z } from 'zod';
import { invalid } from '../requests/problem.ts';
import { parseVersion, readTypeRef } from './version.ts';

const dataType = z.enum(['string', 'integer', 'number', 'boolean', 'file']);
export type DataType = z.infer<typeof dataType>;

const name = z.string().min(1).max(256);
const description = z.string().optional();
const typeRef = z.string().refine((text) => readTypeRef(text), 'must be a type id, optionally with @ and a version');
const fullRef = z.string().refine((text) => {
  const selector = readTypeRef(text)?.selector;
  return typeof selector === 'object' && 'exact' in selector;
}, 'must be <typeId>@<version>');

const field = z.looseObject({ dataType, isMandatory: z.boolean().optional(), description });
/** The data types of inputs are an open list. */
const input = z.looseObject({ dataType: name, description });
const method = z.looseObject({ description, input: z.record(name, input).optional() });
const related = z.looseObject({ type: typeRef, uniqueMapping: z.record(name, name).optional() });
const reference = z.looseObject({ description });

/** The shape of a type definition. Members that are not named here are stored and returned, without meaning. */
const definitionSchema = z.looseObject({
  model: name.optional(),
  typeId: name.refine((id) => !/[@\p{Cc}]/u.test(id), 'must have neither @ nor control characters'),
  version: z.string().refine((text) => parseVersion(text) !== undefined, 'must be three dot-separated numbers'),
  baseTypes: z.array(fullRef).optional(),
  unique: z.array(name).optional(),
  properties: z.record(name, field).optional(),
  variables: z.record(name, field).optional(),
  methods: z.record(name, method).optional(),
  relatedModels: z.record(name, related).optional(),
  references: z.record(name, reference).optional(),
});

export type Definition = z.infer<typeof definitionSchema>;

/** `$.properties.serial.dataType` of a path's steps. */
const jsonPath = (steps: readonly PropertyKey[]): string =>
  steps.reduce<string>((path, step) => path + (typeof step === 'number' ? `[${step}]` : `.${String(step)}`), '$');

/** Checks the shape of a type definition; the refusal (400) lists every fault with its JSON path. */
export function readDefinition(value: unknown): Definition {
  const result = definitionSchema.safeParse(value);
  if (result.success) return result.data;
  const { issues } = result.error;
  const faults = issues.slice(0, 5).map((issue) => `${jsonPath(issue.path)}: ${issue.message}`);
  throw invalid(faults.join('; '), { paths: issues.map((issue) => jsonPath(issue.path)) });
}
