import { isObject, isWith, membersOf } from './body.ts';
import { isGuid, isModelId, typeOf } from './fields.ts';
import { identityOf } from './sequences.ts';
import { type Answer, ask, type Call, Failure, type Handling, orFail } from './steps.ts';

/** A1, A2: an object model that is created, or found, claimed and updated. */

export interface Wanted {
  readonly deviceId: string;
  readonly owner: string;
  readonly objectId: unknown;
  readonly model: unknown;
  readonly type: unknown;
  readonly properties: unknown;
  readonly text: string;
  /** Where it is created, by its id or the form of one that is yet to be made. */
  readonly pathOf: (objectId: string | RegExp) => Call['path'];
  /** What is sent to create it: all but the generated id. */
  readonly whole: NonNullable<Call['body']>;
}

export interface StoredModel {
  readonly objectId: string;
  readonly isNew: boolean;
  readonly path: string | undefined;
  /** As the backend gave it, without what became of related models. */
  readonly text: string;
  readonly relatedModels: readonly unknown[];
  readonly createdModels: readonly unknown[];
}

const generatedId = /^[\da-f]{8}-[\da-f]{4}-5[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

export function* createOrUpdate(wanted: Wanted): Handling<StoredModel> {
  const { deviceId, owner, model } = wanted;
  const ownerId = yield* identityOf(deviceId, owner);
  let found = yield* lookUp(wanted, false);
  if (found === undefined) {
    const answer = yield* create(wanted, ownerId);
    if (answer.status !== 409) return stored(orFail(answer), true);
    const { meta = {} } = JSON.parse(answer.body).errors[0];
    if (meta.type !== undefined && typeOf(meta.type)?.id !== typeOf(wanted.type)?.id) orFail(answer);
    found = yield* lookUp(wanted, true);
    if (found === undefined) orFail(answer);
  }
  const path = ['objects', String(found?.['objectId']), 'models', String(model)];
  if (found?.['ownerId'] === undefined) {
    const claim = yield* ask({ method: 'PUT', path: [...path, 'owner'], body: JSON.stringify({ ownerId }) });
    if (claim.status === 409) throw new Failure('not_authorized', ['409']);
    orFail(claim);
  }
  const body = isWith('version', found?.['version'], wanted.text);
  return stored(orFail(yield* ask({ method: 'PUT', path, body })), false);
}

function* create({ objectId, pathOf, whole, text }: Wanted, ownerId: string): Handling<Answer> {
  const isGiven = objectId !== null;
  const isWhole = (sent: string) => (typeof whole === 'string' ? sent === whole : whole(sent));
  const hasId = (sent: string) => {
    const id = String(membersOf(sent)['objectId']);
    return generatedId.test(id) && isWith('objectId', id, text)(sent);
  };
  const path = pathOf(isGiven ? String(objectId) : generatedId);
  const body = isGiven || path.length > 1 || !isObject(JSON.parse(text)) ? isWhole : hasId;
  return yield* ask({ method: 'POST', path, query: { owner: ownerId }, body });
}

/** By id and model; else by the values of the type's unique properties, if there are any and all are given. */
function* lookUp(wanted: Wanted, isAgain: boolean): Handling<Record<string, unknown> | undefined> {
  const { objectId, model, properties } = wanted;
  const type = typeOf(wanted.type);
  if (!isModelId(model)) return undefined;
  if (objectId !== null) {
    if (!isGuid(objectId)) return undefined;
    const answer = yield* ask({ method: 'GET', path: ['objects', objectId, 'models', model] });
    return answer.status === 404 ? undefined : JSON.parse(orFail(answer).body);
  }
  if (type === undefined) return undefined;
  const version = type.version === undefined ? [] : ['versions', type.version];
  const path = ['modelDefinitions', model, 'types', type.id, ...version];
  const definition = yield* ask({ method: 'GET', path }, { isKnown: true });
  if (definition.status === 404) return undefined;
  orFail(definition);
  const unique: string[] = JSON.parse(definition.body).uniqueProperties ?? [];
  const given = isObject(properties) ? properties : {};
  const values = unique.map((name) => [name, plain(given[name])] as const);
  if (values.length === 0 || values.some(([, value]) => value === undefined)) return undefined;
  const query = { model, type: type.id, properties: Object.fromEntries(values) };
  const body = (sent: string) => JSON.stringify(JSON.parse(sent)) === JSON.stringify(query);
  const answer = orFail(yield* ask({ method: 'POST', path: ['query'], body }));
  const hits: Record<string, unknown>[] = JSON.parse(answer.body).data;
  if (hits.length > 1) throw new Failure('http_response_error', [String(hits.length)]);
  return isAgain || hits.length === 1 ? hits[0] : undefined;
}

/** B2: plain or wrapped. */
const plain = (value: unknown): unknown => (isObject(value) && 'value' in value ? value['value'] : value);

function stored({ body }: Answer, isNew: boolean): StoredModel {
  const { objectId, path, relatedModels = [] } = JSON.parse(body);
  const at = body.lastIndexOf(',"relatedModels":');
  return {
    objectId,
    isNew,
    path,
    text: at < 0 ? body : `${body.slice(0, at)}}`,
    relatedModels: relatedModels.map(({ created: _, ...related }: { created: boolean }) => related),
    createdModels: relatedModels
      .filter(({ created }: { created: boolean }) => created)
      .map((one: { model: string }) => one.model),
  };
}
