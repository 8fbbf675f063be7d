import { members, printMembers } from '../requests/json.ts';
import { Problem } from '../requests/problem.ts';
import type { Caller } from '../routes/route.ts';
import { isReadable } from '../rules/ownership.ts';
import type { Field, RelatedModel } from '../typeRegistry/resolvedType.ts';
import type { ObjectModel } from './objectModel.ts';
import type { Stores } from './stores.ts';
import { checkValues } from './values.ts';

/** The result for one related model of a type. */
interface Result {
  readonly model: string;
  readonly success: boolean;
  readonly code: string;
  readonly details: string;
  readonly created: boolean;
}

const found = (model: string): Result => ({ model, success: true, code: 'ok', details: '', created: false });

const failed = (model: string, code: string, details: string): Result => ({
  model,
  success: false,
  code,
  details,
  created: false,
});

const CODES: Readonly<Record<number, string>> = { 400: 'validation_error', 403: 'not_authorized' };

function fallbacks(fields: ReadonlyMap<string, Field>): Map<string, string> {
  return new Map(
    Array.from(fields).flatMap(([name, { fallback }]) => (fallback === undefined ? [] : [[name, fallback]])),
  );
}

function relateOne(stores: Stores, caller: Caller, main: ObjectModel, model: string, related: RelatedModel): Result {
  const { objects, types } = stores;
  const foreign = () => failed(model, 'not_authorized', 'the related model belongs to another device');
  const present = objects.get(main.tenant, main.objectId, model);
  if (present) return isReadable(present, caller) ? found(model) : foreign();

  const type = types.find(main.tenant, model, related.type);
  if (!type) return failed(model, 'http_response_error', 'the type of the related model does not exist');
  const values = members(main.properties);
  const properties = fallbacks(type.properties);
  for (const [from, to] of related.uniqueMapping) {
    const value = values.get(from);
    if (value !== undefined) properties.set(to, value);
  }
  const text = printMembers(properties);
  const [holder] = objects.holders(main.tenant, type, text);
  if (holder) return isReadable(holder, caller) ? found(model) : foreign();

  const variables = printMembers(fallbacks(type.variables));
  checkValues(type, text, variables);
  const { tenant, objectId, name, owner } = main;
  const named = name === undefined ? {} : { name };
  const owned = owner === undefined ? {} : { owner };
  objects.put({ tenant, objectId, model, ...named, type, properties: text, variables, version: 1, ...owned });
  return { ...found(model), created: true };
}

/**
 * Creates the missing related models of an object model: same object id, name and owner, the related type's defaults,
 * and the properties that its `uniqueMapping` copies. One that exists, by id or by those properties, is left as it is.
 * A related model that fails is reported and fails nothing else. Answers the raw text of `relatedModels`. B1
 */
export function relate(stores: Stores, caller: Caller, main: ObjectModel): string {
  const results = Array.from(main.type.relatedModels, ([model, related]) => {
    try {
      return relateOne(stores, caller, main, model, related);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return failed(model, CODES[error.status] ?? 'http_response_error', error.message);
    }
  });
  return JSON.stringify(results);
}
