import { z } from 'zod';
import { defaultModel, isGuid, isModelId } from '../protocol/fields.ts';
import { type Json, type Keys, keysOf, parseJson, pickSmall } from '../protocol/json.ts';
import { Rejection } from '../protocol/rejection.ts';
import type { AnswerReading } from './answer.ts';
import type { Send } from './call.ts';
import { isCreatedBy, isReplacedBy } from './lostAnswers.ts';
import { path } from './percentEncoding.ts';
import { ofReference } from './reference.ts';
import type { Refusal } from './refusal.ts';

const mandatory = ['objectId', 'model', 'version'] as const;
const storedModel = z.object({ objectId: z.string(), model: z.string(), version: z.number() });

/** The keys to find in an object model. */
const ofModel = keysOf([
  ...['objectId', 'model', 'type', 'name', 'version', 'ownerId', 'path'],
  ...['properties', 'variables', 'relatedModels'],
]);

/** Called with each element of an answer as it is read. What it throws ends the reading. */
type Take = (element: Json) => void;

export type InformationModel = ReturnType<typeof informationModel>;

/** Object models and references. Request bodies are sent unchanged; object models keep the backend's own text. */
export function informationModel(send: Send) {
  const at = (objectId: string, model: string) => path`/objects/${objectId}/models/${model}`;

  /** The object model; undefined when none exists that the device may read. */
  async function getModel(objectId: string, model: string): Promise<Json | undefined> {
    const operation = 'read object model';
    return (await send({ operation, method: 'GET', path: at(objectId, model), expect: [404], read: objectModel }))
      .value;
  }

  /** The object model. @throws Refusal 404 when none exists that the device may read */
  async function existingModel(objectId: string, model: string): Promise<Json> {
    const operation = 'read object model';
    const { value, refusal } = await send({ operation, method: 'GET', path: at(objectId, model), read: objectModel });
    if (refusal) throw refusal;
    return value;
  }

  /** The stored model, if it proves that a lost attempt took effect (B4). */
  async function ownWork(refusal: Refusal, objectId: string, model: string, proves: (stored: Json) => boolean) {
    const stored = await getModel(objectId, model);
    if (stored === undefined || !proves(stored)) throw refusal;
    return stored;
  }

  return {
    getModel,
    existingModel,

    /**
     * Creates an object model with its related models. After a lost response, an existing model of the same type and owner
     * counts as created by this call; `relatedModels` is then missing, because its content is unknown.
     * @param objectId goes into the path; the body may then have none
     * @param wasThere the model existed before this call, so that this call cannot have created it
     * @param takeRelated called with the result of each related model; what it throws ends the reading
     * @throws Refusal 409 with `meta.objectId` and `meta.type` of the model that exists
     */
    async createModel(
      ownerId: string,
      body: string,
      objectId?: string,
      wasThere = false,
      takeRelated?: Take,
    ): Promise<Json> {
      const target =
        objectId === undefined ? path`/object?owner=${ownerId}` : path`/objects/${objectId}?owner=${ownerId}`;
      const { value, refusal, lost } = await send({
        operation: 'create object model',
        method: 'POST',
        path: target,
        body,
        expect: [409],
        read: withRelated(takeRelated),
      });
      if (!refusal) return value;
      if (!lost || wasThere) throw refusal;
      const sent = parseJson(body);
      const { objectId: given, model = defaultModel } = pickSmall(sent, ['objectId', 'model']);
      const id = objectId ?? given ?? refusal.meta['objectId'];
      if (!isGuid(id) || !isModelId(model)) throw refusal; // D1: these values are not validated yet
      return ownWork(refusal, id, model, (stored) => isCreatedBy(sent, ownerId, stored));
    },

    /**
     * Replaces properties and variables; the body has the stored version. After a lost response, a model with the sent
     * content and the next version counts as replaced by this call.
     * @param takeRelated called with the result of each related model; what it throws ends the reading
     * @throws Refusal 409 when another version is stored
     */
    async replaceModel(objectId: string, model: string, body: string, takeRelated?: Take): Promise<Json> {
      const { value, refusal, lost } = await send({
        operation: 'replace object model',
        method: 'PUT',
        path: at(objectId, model),
        body,
        expect: [404, 409],
        read: withRelated(takeRelated),
      });
      if (!refusal) return value;
      if (!lost) throw refusal;
      return ownWork(refusal, objectId, model, (stored) => isReplacedBy(parseJson(body), stored));
    },

    /**
     * Makes the principal the owner of an object model without owner.
     * @throws Rejection not_authorized when another principal owns it
     */
    async claim(objectId: string, model: string, ownerId: string): Promise<void> {
      const { refusal, lost } = await send({
        operation: 'claim object model',
        method: 'PUT',
        path: `${at(objectId, model)}/owner`,
        body: JSON.stringify({ ownerId }),
        expect: [409],
      });
      if (!refusal) return;
      const stored = lost ? await getModel(objectId, model) : undefined;
      if (stored !== undefined && pickSmall(stored, ['ownerId']).ownerId === ownerId) return;
      throw new Rejection('not_authorized', refusal.details);
    },

    /** Outgoing references; none when the object model does not exist. */
    async references(objectId: string, model: string, take: Take): Promise<void> {
      await send({
        operation: 'read references',
        method: 'GET',
        path: `${at(objectId, model)}/references/out`,
        expect: [404],
        read: dataOf(ofReference, take),
      });
    },

    /** Creates references, or updates the attributes of existing ones. @param body an array of references */
    async addReferences(objectId: string, model: string, body: string): Promise<void> {
      await send({
        operation: 'create references',
        method: 'POST',
        path: `${at(objectId, model)}/references/out`,
        body,
      });
    },

    /** The object models of any version of a type with these values of properties. */
    async query(model: string, typeId: string, properties: ReadonlyMap<string, Json>, take: Take): Promise<void> {
      const values = Array.from(properties, ([name, { text }]) => `${JSON.stringify(name)}:${text}`);
      await send({
        operation: 'look up object model',
        method: 'POST',
        mutates: false,
        path: '/query',
        body: `{"model":${JSON.stringify(model)},"type":${JSON.stringify(typeId)},"properties":{${values.join()}}}`,
        read: dataOf(ofModel, (hit) => {
          if (mandatory.some((key) => !hit.members.has(key))) throw new TypeError('expected object models');
          take(hit);
        }),
      });
    },
  };
}

const ofList = keysOf(['data']);

/** The elements of `{"data":[…]}`. */
const dataOf = (keys: Keys, take: Take): AnswerReading<void> => ({
  keys: ofList,
  elements: { key: 'data', keys, take },
  result({ members, twice }) {
    if (!members.has('data') || twice.size > 0) throw new TypeError('expected one list of data');
  },
});

const objectModel: AnswerReading<Json> = {
  keys: ofModel,
  result(answer) {
    storedModel.parse(pickSmall(answer, mandatory));
    return answer;
  },
};

const ofRelated = keysOf(['model', 'success', 'code', 'details', 'created']);

const withRelated = (take: Take = () => {}): AnswerReading<Json> => ({
  ...objectModel,
  elements: { key: 'relatedModels', keys: ofRelated, take },
});
