import { z } from 'zod';
import { shortened } from '../protocol/details.ts';
import { integerIn, isGuid } from '../protocol/fields.ts';
import { type Json, parseJson, pick, textIn, valueIn, withoutMember } from '../protocol/json.ts';

interface Located {
  readonly objectId: string;
  readonly model: string;
  readonly type: unknown;
  /** As written: it may be larger than a JavaScript number can hold. */
  readonly version: string;
  readonly ownerId: string | undefined;
  readonly path: string | undefined;
}

/**
 * Where an object model of the information model stands.
 * @throws Error when it lacks what every stored object model has
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

/** The version of an object model, to its last digit. */
export function versionOf(stored: Json): bigint {
  const version = integerIn(locate(stored).version);
  if (version === undefined) throw new Error('the information model answered with a version that is no integer');
  return version;
}

/** The object model as it stands in the information model afterwards. */
export interface Registered {
  readonly objectId: string;
  readonly model: string;
  /** Whether this request created it. */
  readonly created: boolean;
  /** The information model's own text of it. */
  readonly stored: Json;
  readonly relatedModels: readonly RelatedModel[];
  /** Models of the same object that came into being with this request. */
  readonly createdModels: readonly string[];
}

/** What became of a related model (B1). */
export interface RelatedModel {
  readonly model: string;
  readonly success: boolean;
  readonly code: string;
  readonly details: string;
}

const relatedModel = z.object({ model: z.string(), success: z.boolean(), code: z.string(), details: z.string() });

/** Schema of what an acknowledgement tells of related models. */
export const relatedModels: z.ZodType<readonly RelatedModel[]> = z.array(relatedModel);

/** Splits an answer of the information model into the object model and the news of its related models (B1). */
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
