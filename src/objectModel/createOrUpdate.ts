import type { BoundBackends } from '../backends/backends.ts';
import { Refusal } from '../backends/refusal.ts';
import { invalid } from '../protocol/envelope.ts';
import type { Generation } from '../protocol/event.ts';
import { isGuid, isSameId, parseTypeRef, type TypeRef } from '../protocol/fields.ts';
import { type Json, withMember } from '../protocol/json.ts';
import { Rejection } from '../protocol/rejection.ts';
import type { MessageLimits } from '../settings/constants.ts';
import { answerTooLarge, createRelatedModels, locate, type ModelIdentity, registered } from './storedModel.ts';
import { createUniqueValues, uniqueProperties } from './unique.ts';

/** What a device asks for with `model.create` or `Svc.Device.Created`. */
interface Registration {
  /** Connectivity path of the owner. */
  readonly owner: string;
  readonly generation: Generation;
  readonly identity: Identity;
  readonly redelivered: boolean;
  /** The request's body; it is sent with only `objectId` or `version` changed. */
  readonly body: Json;
}

/** How a model is found: by `objectId` and `model`, else by type id and unique properties. */
export interface Identity {
  readonly objectId: string | undefined;
  readonly model: string | undefined;
  readonly type: TypeRef | undefined;
  /** The id for an object that the request creates without an `objectId` (A2). */
  readonly derivedId: string | undefined;
}

type AnswerLimits = Pick<MessageLimits, 'maxHits' | 'maxRelatedModels'>;
const mostRaces = 5;

/** Creates the object model, or updates it, after claiming it if it has no owner (A1). @throws Rejection */
export async function createOrUpdate(registration: Registration, backends: BoundBackends, limits: AnswerLimits) {
  const { generation, identity, body } = registration;
  const { informationModel } = backends;
  const ownerId = await resolveOwner(registration.owner, backends);
  const found = await lookUp(registration, backends, limits);
  // An earlier delivery created it. A second creation returns the same response (A2).
  const isOurs = found !== undefined && isSameId(found.objectId, identity.derivedId);
  // A redelivered message may have created the model, too; then it must not update it (G3).
  if (found !== undefined && !isOurs && !registration.redelivered) return update(found);

  try {
    return await create();
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 409) throw error;
    return found === undefined || isOurs ? afterConflict(error) : update(found);
  }

  /** V2 creates with the id in the body, V1 with the id in the path. V1 bodies may lack the model. */
  async function create() {
    const { objectId, derivedId, model } = identity;
    const isWhole = generation === 'V2' ? derivedId === undefined : body.members.has('model');
    const [lacking, value] = generation === 'V2' ? ['objectId', derivedId] : ['model', model];
    const text = isWhole ? body.text : withMember(body, lacking, JSON.stringify(value));
    const inPath = generation === 'V2' ? undefined : (objectId ?? derivedId);
    const wasThere = found !== undefined && !isOurs;
    const related = createRelatedModels(limits);
    return registered(await informationModel.createModel(ownerId, text, inPath, wasThere, related), true, related);
  }

  /** Another request has created the model: updates it, unless an earlier delivery created it or its type differs (A1, A2). */
  async function afterConflict(conflict: Refusal) {
    const named = conflict.meta['objectId'];
    // A1: an objectId in the request concerns that object only
    const objectId = identity.objectId ?? (isGuid(named) ? named : identity.derivedId);
    const theirs = parseTypeRef(conflict.meta['type']);
    if (objectId === undefined || identity.model === undefined) throw conflict;
    if (theirs !== undefined && theirs.typeId !== identity.type?.typeId) throw conflict;
    const existing = await informationModel.getModel(objectId, identity.model);
    if (existing === undefined) throw conflict;
    const at = locate(existing);
    const isOurs = isSameId(objectId, identity.derivedId) && isSameId(at.ownerId, ownerId);
    return isOurs ? registered(existing, true) : update(at);
  }

  async function update(existing: ModelIdentity) {
    let at = existing;
    for (let race = 1; ; race += 1) {
      if (at.ownerId === undefined) await informationModel.claim(at.objectId, at.model, ownerId);
      try {
        const text = withMember(body, 'version', at.version);
        const related = createRelatedModels(limits);
        return registered(await informationModel.replaceModel(at.objectId, at.model, text, related), false, related);
      } catch (error) {
        if (!(error instanceof Refusal) || error.status !== 409 || race === mostRaces) throw error;
        const again = await informationModel.getModel(at.objectId, at.model);
        if (again === undefined) throw error;
        at = locate(again);
      }
    }
  }
}

async function resolveOwner(owner: string, { principalManager }: BoundBackends): Promise<string> {
  const principal = await principalManager.resolve(owner);
  if (principal) return principal.id;
  const ofDevice = 'the principal manager has no identity for this device';
  const named = 'property owner names no identity that is connected through this device';
  throw new Rejection('http_response_error', owner === '' ? ofDevice : named);
}

async function lookUp({ generation, identity, body }: Registration, backends: BoundBackends, limits: AnswerLimits) {
  const { objectId, model, type } = identity;
  if (model === undefined) return undefined;
  if (objectId !== undefined) {
    const stored = await backends.informationModel.getModel(objectId, model);
    return stored && locate(stored);
  }
  if (type === undefined) return undefined;

  const unique = createUniqueValues((await uniqueProperties(model, type, backends.typeRegistry)) ?? []);
  const { values, twice } = unique.read(body);
  if (twice !== undefined) throw new Rejection(invalid(generation), `body.properties.${twice} occurs twice`);
  if (values === undefined) return undefined;
  const hasValues = unique.matching(values);
  let [hits, matches] = [0, 0];
  let found: ModelIdentity | undefined;
  await backends.informationModel.query(model, type.typeId, values, (hit) => {
    hits += 1;
    if (hits > limits.maxHits) throw answerTooLarge(`more than ${limits.maxHits} object models were found`);
    if (!hasValues(hit)) return; // B2
    const at = locate(hit);
    if (at.model !== model || parseTypeRef(at.type)?.typeId !== type.typeId) return; // B2
    matches += 1;
    found ??= at;
  });
  if (matches <= 1) return found;
  const have = 'object models have the unique properties of the request; none was updated';
  throw new Rejection('http_response_error', `information model: ${matches} ${have}`);
}
