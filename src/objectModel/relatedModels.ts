import { z } from 'zod';
import { shortened } from '../protocol/details.ts';
import { isText, type Json, pickSmall, valueIn } from '../protocol/json.ts';
import { Rejection } from '../protocol/rejection.ts';

/** The result of a related model (B1). */
export interface RelatedModel {
  readonly model: string;
  readonly success: boolean;
  readonly code: string;
  readonly details: string;
}

/** Schema of the related models in an acknowledgement. */
export const relatedModels: z.ZodType<readonly RelatedModel[]> = z.array(
  z.object({ model: z.string(), success: z.boolean(), code: z.string(), details: z.string() }),
);

/** The results of related models in one answer of the information model, as they are read. */
export interface RelatedModels {
  /** @throws Rejection for more than may be read */
  take(related: Json): void;
  readonly results: readonly RelatedModel[];
  /** Those that this request created. */
  readonly created: readonly string[];
}

/** What an acknowledgement can carry, compressed, has fewer. */
const mostCharacters = 256 * 1024;

/** Checked by hand: there may be thousands, and a schema would take several times as long. */
export function createRelatedModels({ maxRelatedModels }: { readonly maxRelatedModels: number }): RelatedModels {
  const results: RelatedModel[] = [];
  const createdModels: string[] = [];
  let characters = 0;
  return {
    results,
    created: createdModels,
    take(related) {
      if (results.length === maxRelatedModels) {
        const why = `information model: the answer has more than ${maxRelatedModels} related models`;
        throw new Rejection('response_too_large', why);
      }
      const { model, success, code, created = false } = pickSmall(related, members);
      const details = isText(related, 'details') ? valueIn(related, 'details') : undefined;
      const isComplete = typeof model === 'string' && typeof success === 'boolean' && typeof code === 'string';
      if (!isComplete || typeof details !== 'string' || typeof created !== 'boolean') {
        throw new TypeError('expected the results of related models');
      }
      const result = { model, success, code, details: shortened(details) };
      characters += model.length + code.length + result.details.length;
      if (characters > mostCharacters) {
        const why = `information model: the results of related models have more than ${mostCharacters} characters`;
        throw new Rejection('response_too_large', why);
      }
      results.push(result);
      if (success && created) createdModels.push(model);
    },
  };
}

const members = ['model', 'success', 'code', 'created'] as const;
