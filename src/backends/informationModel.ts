import { isDeepStrictEqual } from 'node:util';
import { decimalOf } from '@device-messaging/telemetry/exactJson.ts';
import { z } from 'zod';
import type { TypeRef } from '../protocol/fields.ts';
import { defaultModel, integerIn, isGuid, isModelId, isSameId, parseTypeRef } from '../protocol/fields.ts';
import type { Json, Keys } from '../protocol/json.ts';
import { isOneOf, isText, keysOf, memberOf, parseJson, pickSmall, textIn, valueIn } from '../protocol/json.ts';
import { Rejection } from '../protocol/rejection.ts';
import { path } from './percentEncoding.ts';
import type { Refusal } from './refusal.ts';
import { type AnswerReading, dataOf, type Send, type Take } from './sending.ts';

const mandatory = ['objectId', 'model', 'version'] as const;
const storedModel = z.object({ objectId: z.string(), model: z.string(), version: z.number() });

const ofModel = keysOf([
  ...['objectId', 'model', 'type', 'name', 'version', 'ownerId', 'path'],
  ...['properties', 'variables', 'relatedModels'],
]);

type RelatedReading = Pick<AnswerReading<Json>, 'cover'> & { readonly take: Take };

/** Object models and references. Request bodies are sent unchanged; object models keep the backend's own text. */
export function informationModel(send: Send) {
  const at = (objectId: string, model: string) => path`/objects/${objectId}/models/${model}`;

  const outOf = (objectId: string, model: string) => `${at(objectId, model)}/references/out`;
  const read = (objectId: string, model: string, expect: readonly number[]) =>
    send({ operation: 'read object model', method: 'GET', path: at(objectId, model), expect, read: objectModel });

  /** The object model; undefined when none exists that the device may read. */
  const getModel = async (objectId: string, model: string): Promise<Json | undefined> =>
    (await read(objectId, model, [404])).value;

  /** The stored model, if it proves that a lost attempt took effect (B4). */
  async function ownWork(refusal: Refusal, objectId: string, model: string, proves: (stored: Json) => boolean) {
    const stored = await getModel(objectId, model);
    if (stored === undefined || !proves(stored)) throw refusal;
    return stored;
  }

  return {
    getModel,

    /** The object model. @throws Refusal 404 when none exists that the device may read */
    async existingModel(objectId: string, model: string): Promise<Json> {
      const { value, refusal } = await read(objectId, model, []);
      if (refusal) throw refusal;
      return value;
    },

    /**
     * Creates an object model with its related models. After a lost response, an existing model of the same type and owner counts as created,
     * without `relatedModels`, whose content is unknown.
     * @param objectId goes into the path; the body may then have none
     * @param wasThere the model existed before this call, so that this call cannot have created it
     * @throws Refusal 409 with `meta.objectId` and `meta.type` of the model that exists
     */
    async createModel(ownerId: string, body: string, objectId?: string, wasThere = false, related?: RelatedReading) {
      const target = objectId ? path`/objects/${objectId}?owner=${ownerId}` : path`/object?owner=${ownerId}`;
      const request = { operation: 'create object model', method: 'POST', path: target, body, expect: [409] } as const;
      const { value, refusal, lost } = await send({ ...request, read: withRelated(related) });
      if (!refusal) return value;
      if (!lost || wasThere) throw refusal;
      const sent = parseJson(body);
      const { objectId: given, model = defaultModel } = pickSmall(sent, ['objectId', 'model']);
      const id = objectId ?? given ?? refusal.meta['objectId'];
      if (!isGuid(id) || !isModelId(model)) throw refusal; // D1: these values are not validated yet
      return ownWork(refusal, id, model, (stored) => isCreatedBy(sent, ownerId, stored));
    },

    /**
     * Replaces properties and variables. After a lost response, a model with the sent content and the next version counts as replaced.
     * @throws Refusal 409 when another version is stored
     */
    async replaceModel(objectId: string, model: string, body: string, related?: RelatedReading): Promise<Json> {
      const request = { operation: 'replace object model', method: 'PUT', path: at(objectId, model), body } as const;
      const { value, refusal, lost } = await send({ ...request, expect: [404, 409], read: withRelated(related) });
      if (!refusal) return value;
      if (!lost) throw refusal;
      return ownWork(refusal, objectId, model, (stored) => isReplacedBy(parseJson(body), stored));
    },

    /** Makes the principal the owner of an object model without owner. @throws Rejection not_authorized when another principal owns it */
    async claim(objectId: string, model: string, ownerId: string): Promise<void> {
      const request = { operation: 'claim object model', method: 'PUT', path: `${at(objectId, model)}/owner` } as const;
      const { refusal, lost } = await send({ ...request, body: JSON.stringify({ ownerId }), expect: [409] });
      if (!refusal) return;
      const stored = lost ? await getModel(objectId, model) : undefined;
      if (stored !== undefined && isSameId(pickSmall(stored, ['ownerId']).ownerId, ownerId)) return;
      throw new Rejection('not_authorized', refusal.details);
    },

    /** Outgoing references; none when the object model does not exist. */
    async references(objectId: string, model: string, take: Take): Promise<void> {
      const request = { operation: 'read references', method: 'GET', path: outOf(objectId, model) } as const;
      await send({ ...request, expect: [404], read: dataOf(ofReference, take) });
    },

    /** Creates references, or updates the attributes of existing ones. @param body an array of references */
    async addReferences(objectId: string, model: string, body: string): Promise<void> {
      await send({ operation: 'create references', method: 'POST', path: outOf(objectId, model), body });
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

const objectModel: AnswerReading<Json> = {
  keys: ofModel,
  result(answer) {
    storedModel.parse(pickSmall(answer, mandatory));
    return answer;
  },
};

const ofRelated = keysOf(['model', 'success', 'code', 'details', 'created']);

const withRelated = ({ take, cover }: RelatedReading = { take() {} }): AnswerReading<Json> => ({
  ...objectModel,
  elements: { key: 'relatedModels', keys: ofRelated, take },
  cover,
});

// Whether a request whose response was lost took effect (B4).

export function isCreatedBy(sent: Json, ownerId: string, stored: Json): boolean {
  const type = typeIn(sent)?.typeId;
  if (type === undefined || typeIn(stored)?.typeId !== type) return false;
  return isSameId(pickSmall(stored, ['ownerId']).ownerId, ownerId);
}

export function isReplacedBy(sent: Json, stored: Json): boolean {
  const before = versionIn(sent);
  return (
    before !== undefined &&
    before >= 0n &&
    versionIn(stored) === before + 1n &&
    isOfType(typeIn(stored), typeIn(sent)) &&
    (!sent.members.has('name') || equalIn('name', sent, stored)) &&
    equalIn('properties', sent, stored, '{}') &&
    equalIn('variables', sent, stored, '{}')
  );
}

export const isDefinedBy = (sent: Json, stored: Json): boolean =>
  [...sent.members.keys()].every((key) => equalIn(key, sent, stored));

/** A stored type has a full version; the requested one may have none, or only a major version. */
function isOfType(type: TypeRef | undefined, wanted: TypeRef | undefined): boolean {
  if (type === undefined || type.typeId !== wanted?.typeId) return false;
  return wanted.version === undefined || `${type.version}.`.startsWith(`${wanted.version}.`);
}

const typeIn = (json: Json): TypeRef | undefined => parseTypeRef(pickSmall(json, ['type']).type);

/** Exact for versions beyond 2^53, too; undefined when it is no integer. */
export const versionIn = (json: Json): bigint | undefined => integerIn(textIn(json, 'version') ?? '');

/** Whether two JSON texts have the same value, however written. Numbers are compared exactly: 2^53 and 2^53 + 1 differ, `1.0` and `10e-1` do not. */
export const saysTheSame = (a: string, b: string): boolean => isDeepStrictEqual(exact(a), exact(b));

function equalIn(key: string, a: Json, b: Json, otherwise = 'null'): boolean {
  const read = (json: Json) => textIn(json, key) ?? otherwise;
  return saysTheSame(read(a), read(b));
}

/** The value, with each number as normalised text. A prefix tells numbers (`n`) from strings (`s`). */
const exact = (text: string): unknown =>
  JSON.parse(
    text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
      token[0] === '"' ? `"s${token.slice(1)}` : `"n${normal(token)}"`,
    ),
  );

/** A number in normal form: sign, significant digits and exponent. One with a very long exponent stays unchanged. */
function normal(number: string): string {
  const { digits, exponent } = decimalOf(number);
  if (digits === '') return '0';
  if (!Number.isSafeInteger(exponent)) return number;
  return `${number.startsWith('-') ? '-' : ''}${digits}e${exponent}`;
}

/** An outgoing reference of an object model, in the backend's own text. Its parts are read on access: there may be thousands. */
export type Reference = Json;
export const ofReference = keysOf(['name', 'to', 'attributes']);
const ofTarget = keysOf(['objectId', 'model']);

/** Whether a reference has one of the names. @throws TypeError when it has no name */
export function isNamed(names: ReadonlySet<string>): (reference: Reference) => boolean {
  const keys = keysOf(names);
  return (reference) => {
    const name = reference.members.get('name');
    if (!name || !isText(reference, 'name')) throw new TypeError('expected a reference with a name');
    return isOneOf(reference, name, keys);
  };
}

/** The object that a reference leads to, if it leads to its model of this id. @throws TypeError when it leads to no object model */
export function objectOf(model: string): (reference: Reference) => string | undefined {
  const models = keysOf([model]);
  return (reference) => {
    const to = memberOf(reference, 'to', ofTarget);
    const name = to?.members.get('model');
    if (!to || !name || !isText(to, 'model') || !to.members.has('objectId')) throw noTarget();
    if (!isOneOf(to, name, models)) return undefined;
    const objectId = valueIn(to, 'objectId');
    if (!isGuid(objectId)) throw noTarget();
    return objectId;
  };
}

/** Object and model that a reference leads to; empty when it has none. */
export const targetOf = (reference: Reference): Json => memberOf(reference, 'to', ofTarget) ?? parseJson('{}');

const noTarget = () => new TypeError('expected a reference to an object model');

/** @throws TypeError when they are no object */
export function attributesOf(reference: Reference, keys?: Keys): Json {
  const attributes = memberOf(reference, 'attributes', keys) ?? parseJson('{}');
  if (!attributes.isObject) throw new TypeError('expected attributes to be an object');
  return attributes;
}

export const isMarked = (reference: Reference, marks: Keys): boolean =>
  reference.members.has('attributes') && hasTrue(attributesOf(reference, marks));

/** Whether one of the members that were looked for is `true`. */
export function hasTrue({ members, bytes }: Json): boolean {
  for (const { start } of members.values()) if (bytes[start] === 0x74) return true; // `t`: no other value begins with it
  return false;
}
