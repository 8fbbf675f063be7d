import type { BoundBackends } from '../backends/backends.ts';
import { versionIn } from '../backends/informationModel.ts';
import { Refusal } from '../backends/refusal.ts';
import { invalid } from '../protocol/envelope.ts';
import type { Generation } from '../protocol/event.ts';
import { type Json, withMember } from '../protocol/json.ts';
import { Rejection } from '../protocol/rejection.ts';
import { locate } from './storedModel.ts';

/** What a device asks for with `model.update` or `Svc.Device.Updated`. */
interface Replacement {
  readonly generation: Generation;
  readonly objectId: string;
  readonly model: string;
  /** The request's body; only its `version` is changed, to close a gap. */
  readonly body: Json;
  readonly redelivered: boolean;
  readonly maxVersionGap: number;
}

const mostRaces = 5;

/**
 * Replaces properties and variables of an object model. When the stored version is behind the request's, the update is
 * repeated until the stored version is the request's + 1 (A4).
 * @returns the object model as stored afterwards
 * @throws Rejection when the request's version is behind, too far ahead, or a backend refuses
 */
export async function replace(replacement: Replacement, { informationModel }: BoundBackends): Promise<Json> {
  const { objectId, model, body, redelivered, maxVersionGap } = replacement;
  let text = body.text;
  let closesGap = false;
  let lastRead: string | undefined;
  for (let races = 0; ; ) {
    try {
      const stored = await informationModel.replaceModel(objectId, model, text);
      const { version } = locate(stored);
      if (!closesGap || BigInt(version) > requested(body)) return stored;
      if (text !== body.text) text = withMember(body, 'version', version);
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 409) throw error;
      const refusal = withVersionSaid(error, versionSaid(error) ?? lastRead);
      if (races === mostRaces) throw refusal;
      races += 1;
      const wanted = requested(body, refusal);
      const stored = await informationModel.getModel(objectId, model);
      if (stored === undefined) throw refusal;
      const { version } = locate(stored);
      lastRead = version;
      const gap = wanted - BigInt(version);
      // An earlier delivery may have closed a gap, and messages behind it may be done. It gets the same responses again; a new
      // update would be refused (G3).
      if (redelivered && gap < 0n && !closesGap) text = body.text;
      else {
        if (gap < 0n) throw withVersionSaid(error, version);
        if (gap > BigInt(maxVersionGap)) throw tooFarAhead(replacement, gap, version);
        text = withMember(body, 'version', version);
      }
      closesGap = true;
    }
  }
}

/** The refusal with the version that is stored, if that is known. */
const withVersionSaid = ({ status, details, meta }: Refusal, version: string | undefined): Refusal =>
  new Refusal(status, version === undefined ? details : `${details}; the stored version is ${version}`, meta);

/** The stored version in the information model's error. */
const versionSaid = ({ meta: { version } }: Refusal): string | undefined =>
  Number.isSafeInteger(version) ? String(version) : undefined;

const tooFarAhead = ({ generation, maxVersionGap }: Replacement, gap: bigint, version: string): Rejection =>
  new Rejection(
    invalid(generation),
    `body.version is ${gap} ahead of the stored version ${version}; a gap of at most ${maxVersionGap} is closed`,
  );

/** The request's version. @throws the refusal when it is no integer and cannot be compared */
function requested(body: Json, refusal?: Refusal): bigint {
  const version = versionIn(body);
  if (version !== undefined) return version;
  throw refusal ?? new Error('a version that is no integer was accepted');
}
