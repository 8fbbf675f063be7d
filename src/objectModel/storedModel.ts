import { z } from 'zod';
import type { BoundBackends } from '../backends/backends.ts';
import { versionIn } from '../backends/informationModel.ts';
import { readable } from '../backends/refusal.ts';
import type { Envelope } from '../protocol/envelope.ts';
import { defaultModel, isGuid } from '../protocol/fields.ts';
import { bytesOf, isText, type Json, pickSmall, textIn, valueIn, withoutMember } from '../protocol/json.ts';
import { Rejection, shortened } from '../protocol/rejection.ts';
import { maxReplyBytes, type Notification } from '../protocol/reply.ts';

export type ModelIdentity = ReturnType<typeof locate>;

/**
 * Reads the members that identify a stored object model; the version as JSON text: it may exceed a JavaScript number.
 * @throws Error when a mandatory member is missing
 */
export function locate(stored: Json) {
  const { objectId, model, type, ownerId } = pickSmall(stored, ['objectId', 'model', 'type', 'ownerId']);
  const version = textIn(stored, 'version');
  if (!isGuid(objectId) || typeof model !== 'string' || version === undefined)
    throw new Error('the information model answered with an object model that has no objectId, model or version');
  return { objectId, model, type, version, ownerId: nonEmpty(ownerId) };
}

/** The device and the connectivity path of the owner; undefined when it has none, or an empty one. */
const pathOf = (stored: Json): string | undefined => nonEmpty(pickSmall(stored, ['path']).path);

const nonEmpty = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export function versionOf(stored: Json): bigint {
  const version = versionIn(stored);
  if (version === undefined) throw new Error('the information model answered with a version that is no integer');
  return version;
}

type RegisteredModel = ReturnType<typeof registered>;

/** @param related the results of related models in the same answer */
export function registered(stored: Json, created: boolean, related?: ReturnType<typeof createRelatedModels>) {
  const { objectId, model } = locate(stored);
  const { results: relatedModels = [], created: createdModels = [] } = related ?? {};
  /** The information model's own text of it, without the results of related models. */
  const text = keptOf(withoutMember(stored, 'relatedModels'));
  return { objectId, model, created, path: pathOf(stored), text, relatedModels, createdModels };
}

/** What is kept of a model until it is sent: of one that is too large for the hub only the beginning, which is too large as well (C3). */
export const keptOf = (text: Buffer): Buffer =>
  text.length > maxReplyBytes ? Buffer.from(text.subarray(0, maxReplyBytes + 1)) : text;

export const relatedModels = z.array(
  z.object({ model: z.string(), success: z.boolean(), code: z.string(), details: z.string() }),
);
/** What an acknowledgement can carry, compressed, has fewer. */
const mostCharacters = 256 * 1024;

/** The results of related models in one answer, as they are read. Checked by hand: a schema would take several times as long for thousands. */
export function createRelatedModels({ maxRelatedModels }: { readonly maxRelatedModels: number }) {
  const results: z.infer<typeof relatedModels> = [];
  const createdModels: string[] = [];
  let characters = 0;
  return {
    results,
    created: createdModels,
    /** @throws Rejection for more than may be read */
    take(related: Json): void {
      if (results.length === maxRelatedModels)
        throw answerTooLarge(`the answer has more than ${maxRelatedModels} related models`);
      const { model, success, code, created = false } = pickSmall(related, members);
      const details = isText(related, 'details') ? valueIn(related, 'details') : undefined;
      const isComplete = typeof model === 'string' && typeof success === 'boolean' && typeof code === 'string';
      if (!isComplete || typeof details !== 'string' || typeof created !== 'boolean')
        throw new TypeError('expected the results of related models');
      const result = { model, success, code, details: shortened(details) };
      characters += model.length + code.length + result.details.length;
      if (characters > mostCharacters)
        throw answerTooLarge(`the results of related models have more than ${mostCharacters} characters`);
      results.push(result);
      if (success && created) createdModels.push(model);
    },
    /** All details at once: to find values of the body in them takes a pass over it. */
    cover(redacted: (words: string) => string): void {
      if (results.every(({ details }) => details === '')) return;
      const covered = redacted(results.map(({ details }) => details).join('\0')).split('\0');
      for (const [index, result] of results.entries()) {
        const [words = '', isKnown] = [covered[index], covered.length === results.length]; // a value may have a zero
        result.details = isKnown ? readable(words, Number.POSITIVE_INFINITY) : result.details && '…';
      }
    },
  };
}

const members = ['model', 'success', 'code', 'created'] as const;

/** More than is read of an answer (R6). */
export const answerTooLarge = (what: string): Rejection =>
  new Rejection('response_too_large', `information model: ${what}`);

/** The request-response notification of a requested model. It goes to the target of the request. */
export const requestedNotifications = (
  { objectId, model, created }: Pick<RegisteredModel, 'objectId' | 'model' | 'created'>,
  body: Buffer,
  { deviceId, target }: Envelope,
): Notification => ({ eventType: eventTypeOf(created), deviceId, target, objectId, model, body });

const eventTypeOf = (created: boolean): Notification['eventType'] =>
  created ? 'Svc.InformationModel.ObjectModelCreated' : 'Svc.InformationModel.ObjectModelUpdated';

const configurationModel = 'svc.configuration';

/**
 * The publish-subscribe notification of a registered `svc.device` model: the `svc.configuration` model of the same object, for the device of its
 * owner, or else of the owner of the `svc.device` model (A11). If it cannot be read, there is only a remark.
 */
export async function configurationNews(
  { objectId, model, path, createdModels }: RegisteredModel,
  { informationModel }: BoundBackends,
): Promise<typeof noNews> {
  if (model !== defaultModel) return noNews;
  try {
    const configuration = await informationModel.getModel(objectId, configurationModel);
    if (configuration === undefined) return noNews;
    const [deviceId = '', ...target] = (pathOf(configuration) ?? path)?.split('/') ?? [];
    if (deviceId === '') return noNews;
    const notification: Notification = {
      eventType: eventTypeOf(createdModels.includes(configurationModel)),
      deviceId,
      target: target.join('/'),
      objectId,
      model: configurationModel,
      body: keptOf(bytesOf(configuration)),
    };
    return { notifications: [notification], remarks: [] };
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    return { notifications: [], remarks: [`no notification of ${configurationModel}: ${error.details}`] };
  }
}

export const noNews: { notifications: Notification[]; remarks: readonly string[] } = { notifications: [], remarks: [] };
