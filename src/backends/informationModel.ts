import { z } from 'zod';
import { defaultModel, guid, isGuid, isModelId } from '../protocol/fields.ts';
import { type Json, memberOf, parseJson, pick, pickSmall, valueIn } from '../protocol/json.ts';
import { elementsOf } from '../protocol/jsonElements.ts';
import { Rejection } from '../protocol/rejection.ts';
import type { Send } from './call.ts';
import { isCreatedBy, isReplacedBy } from './lostAnswers.ts';
import { path } from './path.ts';
import type { Refusal } from './refusal.ts';

const target = z.object({ name: z.string(), to: z.object({ objectId: guid, model: z.string() }) });

/** An outgoing reference of an object model. */
export interface Reference extends z.infer<typeof target> {
  /** An object, as the backend wrote it. */
  readonly attributes: Json;
}

const storedModel = z.object({ objectId: z.string(), model: z.string(), version: z.number() });
const related = storedModel.extend({ relatedModels: z.array(z.unknown()).optional() });

export type InformationModel = ReturnType<typeof informationModel>;

/** Object models and references. Bodies go out as they are given; object models come back in the backend's own text. */
export function informationModel(send: Send) {
  const at = (objectId: string, model: string) => path`/objects/${objectId}/models/${model}`;

  /** The object model; undefined when there is none that the device may know of. */
  async function getModel(objectId: string, model: string): Promise<Json | undefined> {
    const operation = 'read object model';
    return (await send({ operation, method: 'GET', path: at(objectId, model), expect: [404], read: objectModel }))
      .value;
  }

  /** What is stored if it proves that a refused attempt has already done its work (B4). */
  async function ownWork(refusal: Refusal, objectId: string, model: string, proves: (stored: Json) => boolean) {
    const stored = await getModel(objectId, model);
    if (stored === undefined || !proves(stored)) throw refusal;
    return stored;
  }

  return {
    getModel,

    /**
     * Creates an object model with its related models. After a lost answer, a model of the same type and owner is taken
     * for our own; which related models came with it is then unknown, and `relatedModels` missing.
     * @param objectId for a body that need not have one
     * @param wasThere a model that was there before cannot be our own
     * @throws Refusal 409 with `meta.objectId` and `meta.type` of the model that exists
     */
    async createModel(ownerId: string, body: string, objectId?: string, wasThere = false): Promise<Json> {
      const target =
        objectId === undefined ? path`/object?owner=${ownerId}` : path`/objects/${objectId}?owner=${ownerId}`;
      const { value, refusal, lost } = await send({
        operation: 'create object model',
        method: 'POST',
        path: target,
        body,
        expect: [409],
        read: objectModelWithRelated,
      });
      if (!refusal) return value;
      if (!lost || wasThere) throw refusal;
      const sent = parseJson(body);
      const { objectId: given, model = defaultModel } = pickSmall(sent, ['objectId', 'model']);
      const id = objectId ?? given ?? refusal.meta['objectId'];
      if (!isGuid(id) || !isModelId(model)) throw refusal; // D1: nobody has checked what the body and the answer say
      return ownWork(refusal, id, model, (stored) => isCreatedBy(sent, ownerId, stored));
    },

    /**
     * Replaces properties and variables; the body has the version that is stored. After a lost answer, a model that says
     * what was sent, one version higher, is taken for our own work.
     * @throws Refusal 409 when another version is stored
     */
    async replaceModel(objectId: string, model: string, body: string): Promise<Json> {
      const { value, refusal, lost } = await send({
        operation: 'replace object model',
        method: 'PUT',
        path: at(objectId, model),
        body,
        expect: [404, 409],
        read: objectModelWithRelated,
      });
      if (!refusal) return value;
      if (!lost) throw refusal;
      return ownWork(refusal, objectId, model, (stored) => isReplacedBy(parseJson(body), stored));
    },

    /**
     * Makes an unowned object model the principal's.
     * @throws Rejection not_authorized when it is another's
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
      if (stored !== undefined && valueIn(stored, 'ownerId') === ownerId) return;
      throw new Rejection('not_authorized', refusal.details);
    },

    /** Outgoing references; undefined when there is no such object model. */
    async references(objectId: string, model: string): Promise<Reference[] | undefined> {
      return (
        await send({
          operation: 'read references',
          method: 'GET',
          path: `${at(objectId, model)}/references/out`,
          expect: [404],
          read: (body) => dataOf(body).map(reference),
        })
      ).value;
    },

    /** Creates references, or updates the attributes of those that exist. @param body an array of references */
    async addReferences(objectId: string, model: string, body: string): Promise<void> {
      await send({
        operation: 'create references',
        method: 'POST',
        path: `${at(objectId, model)}/references/out`,
        body,
      });
    },

    /** The object models of a type, of any version, with these values of properties. */
    async query(model: string, typeId: string, properties: ReadonlyMap<string, Json>): Promise<readonly Json[]> {
      const values = Array.from(properties, ([name, { text }]) => `${JSON.stringify(name)}:${text}`);
      const { value = [] } = await send({
        operation: 'look up object model',
        method: 'POST',
        mutates: false,
        path: '/query',
        body: `{"model":${JSON.stringify(model)},"type":${JSON.stringify(typeId)},"properties":{${values.join()}}}`,
        read: (body) => dataOf(body).map(objectModel),
      });
      return value;
    },
  };
}

/** @throws TypeError when the answer is no list */
const dataOf = (body: Json): Json[] => elementsOf(memberOf(body, 'data') ?? parseJson('null'));

function reference(json: Json): Reference {
  const attributes = memberOf(json, 'attributes') ?? parseJson('{}');
  if (!attributes.isObject) throw new TypeError('expected attributes to be an object');
  return { ...target.parse(pick(json, ['name', 'to'])), attributes };
}

function objectModel(json: Json): Json {
  storedModel.parse(pick(json, ['objectId', 'model', 'version']));
  return json;
}

function objectModelWithRelated(json: Json): Json {
  related.parse(pick(json, ['objectId', 'model', 'version', 'relatedModels']));
  return json;
}
