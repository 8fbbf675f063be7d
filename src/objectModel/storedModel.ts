import { z } from 'zod';
import { shortened } from '../protocol/details.ts';
import { integerIn, isGuid } from '../protocol/fields.ts';
import { type Json, parseJson, pick, textIn, valueIn, withoutMember } from '../protocol/json.ts';

interface Located {
  readonly objectId: string;
  readonly model: string;
  readonly type: unknown;
  /** As JSON text: it may exceed a JavaScript number. */
  readonly version: string;
  readonly ownerId: string | undefined;
  readonly path: string | undefined;
}

/**
 * Reads the members that identify a stored object model.
 * @throws Error when a mandatory member is missing
 */
export function locate(stored: Json): Located {
  const { objectId, model, type, ownerId, path } = pick(stored, ['objectId', 'model', 'type', 'ownerId', 'path']);
  const version = textIn(stored, 'version');
  if (!isGuid(objectId) || typeof model !== 'string' || version === undefined) {
    throw new Error('the information model answered with an object model that has no objectId, model or version');
  }
  const named = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
  return { objectId, model, type, version, ownerId: named(ownerId), path: named(path) };
}

/** The exact version of an object model. */
export function versionOf(stored: Json): bigint {
  const version = integerIn(locate(stored).version);
  if (version === undefined) throw new Error('the information model answered with a version that is no integer');
  return version;
}

/** The object model after the request. */
export interface Registered {
  readonly objectId: string;
  readonly model: string;
  /** Whether this request created it. */
  readonly created: boolean;
  /** The information model's own text of it. */
  readonly stored: Json;
  readonly relatedModels: readonly RelatedModel[];
  /** Related models that this request created. */
  readonly createdModels: readonly string[];
}

/** The result of a related model (B1). */
export interface RelatedModel {
  readonly model: string;
  readonly success: boolean;
  readonly code: string;
  readonly details: string;
}

const relatedModel = z.object({ model: z.string(), success: z.boolean(), code: z.string(), details: z.string() });

/** Schema of the related models in an acknowledgement. */
export const relatedModels: z.ZodType<readonly RelatedModel[]> = z.array(relatedModel);

/** Splits a response of the information model into the object model and the results of its related models (B1). */
export function registered(answer: Json, created: boolean): Registered {
  const relatedModels = valueIn(answer, 'relatedModels') ?? [];
  const stored = parseJson(withoutMember(answer, 'relatedModels'));
  const { objectId, model } = locate(stored);
  const related = z.array(relatedModel.extend({ created: z.boolean().default(false) })).parse(relatedModels);
  return {
    objectId,
    model,
    created,
    stored,
    relatedModels: related.map((one) => ({ ...relatedModel.parse(one), details: shortened(one.details) })),
    createdModels: related.filter((one) => one.success && one.created).map((one) => one.model),
  };
}
