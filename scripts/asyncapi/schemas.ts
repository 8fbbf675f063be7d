import { z } from 'zod';
import { relatedModels } from '../../src/objectModel/storedModel.ts';
import { guid, integer, modelId, path, target, typeRef } from '../../src/protocol/fields.ts';

export type Schema = Readonly<Record<string, unknown>>;

const names = z.registry<Readonly<Record<string, unknown>>>();

/** A schema that the document spells once, by this name, and with what zod does not say of it. */
export function named<S extends z.ZodType>(id: string, schema: S, more: Schema): S {
  names.add(schema, { id, ...more });
  return schema;
}

named('guid', guid, { description: 'Compared without regard to the case of its letters.' });
named('modelId', modelId, { description: 'Model definition identifier, case sensitive.' });
named('typeRef', typeRef, {
  description: 'Type identifier, optionally with `@` and a major or a full version. Case sensitive.',
});
named('connectivityPath', path, {
  description: 'Names of identities joined by `/`, relative to the device that is connected to the hub; empty: itself.',
});
named('target', target, { description: 'A path that is only copied; control characters are refused.' });
named('integer', integer, { type: 'integer' });
named('relatedModels', relatedModels, {
  description:
    'What became of each related model of the type: whether it was created or found, which are not told apart.',
});

/**
 * Turns zod schemas into the JSON schemas of an AsyncAPI document, and gathers those that the document names.
 * Requests may hold more than is described, replies hold nothing else.
 */
export function createSchemas() {
  const components: Record<string, Schema> = {};

  function convert(schema: z.ZodType, io: 'input' | 'output'): Schema {
    const { $schema: _, definitions, ...rest } = z.toJSONSchema(schema, { target: 'draft-07', metadata: names, io });
    for (const [name, { id: _id, ...definition }] of Object.entries(definitions ?? {})) {
      components[name] = rewritten(definition) as Schema;
    }
    return rewritten(rest) as Schema;
  }

  return {
    components,
    /** Names a schema; answers the reference to it. */
    name(name: string, schema: Schema): Schema {
      components[name] = schema;
      return reference(name);
    },
    request: (schema: z.ZodType) => convert(schema, 'input'),
    reply: (schema: z.ZodType) => convert(schema, 'output'),
  };
}

export const reference = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

const rewritten = (node: unknown): unknown =>
  mapReferences(node, (target) => target.replace('#/definitions/', '#/components/schemas/'));

/** The schema with every reference in it replaced. */
export function mapReferences(node: unknown, map: (target: string) => string): unknown {
  if (Array.isArray(node)) return node.map((one) => mapReferences(one, map));
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string' ? map(value) : mapReferences(value, map),
    ]),
  );
}
