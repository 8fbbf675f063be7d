import { identityOf } from './messages.ts';
import { isGuid, isModelId, isObject, isWith, membersOf, systemId, typeOf } from './values.ts';

/** What a device sends: AMQP devices write numbers and booleans, too. */
export type Sent = Readonly<{ properties: Readonly<Record<string, string | number | boolean>>; body: Buffer }>;

/** A text itself, a form that it must have, or `{ either }`: that text or nothing. */
export type Expected = string | RegExp | { readonly either: string };

/** One call of a backend that the service must make. The path is decoded: segments, then the query. */
export interface Call {
  readonly method: string;
  readonly path: readonly (string | RegExp)[];
  readonly query?: Readonly<Record<string, string>>;
  /** The text that must be sent, or whether a text is right. */
  readonly body?: string | ((text: string) => boolean);
}

export type Answer = Readonly<{ status: number; body: string }>;

export interface Reply {
  readonly deviceId: string;
  readonly properties: Readonly<Record<string, Expected>>;
  readonly correlationId: Expected | undefined;
  readonly isCompressed: boolean;
  /** Exactly this text, or a value that is like this in every member. */
  readonly body:
    | { readonly text: string }
    | { readonly value: Readonly<Record<string, unknown>>; readonly mentions: readonly string[] };
}

/** What comes next. `isKnown`: the answer may be remembered from before. `isUnordered`: others of its kind may come first. */
export type Step =
  | { readonly call: Call; readonly isKnown?: boolean; readonly isUnordered?: boolean }
  | { readonly reply: Reply; readonly isUnordered?: boolean };

/** What the service does with one message: each step is answered, a reply with anything. */
export type Handling<T = void> = Generator<Step, T, Answer>;

export function* ask(call: Call, how: { isKnown?: boolean; isUnordered?: boolean } = {}): Handling<Answer> {
  return yield { call, ...how };
}

/** What a message fails with: a code, the words that `details` must have, and further members of the acknowledgement. */
export class Failure extends Error {
  readonly code: string;
  readonly mentions: readonly string[];
  readonly fields: Readonly<Record<string, unknown>>;
  constructor(code: string, mentions: readonly string[] = [], fields: Readonly<Record<string, unknown>> = {}) {
    super(code);
    this.code = code;
    this.mentions = mentions;
    this.fields = fields;
  }
}

/** §3: what a backend's refusal is for the device. */
export function orFail(answer: Answer, fields: Readonly<Record<string, unknown>> = {}): Answer {
  if (answer.status < 300) return answer;
  throw new Failure(answer.status === 403 ? 'not_authorized' : 'http_response_error', [String(answer.status)], fields);
}

/** To whom a notification goes, and under which id. */
export interface Addressed {
  readonly deviceId: string;
  readonly id: Expected;
  readonly correlationId: Expected | undefined;
  readonly target: string;
}

/** One object model, as the backend gave it, unless it is larger than the hub carries (C3). */
export function* notify(to: Addressed, happened: 'Created' | 'Updated', text: string, isUnordered = false): Handling {
  const { objectId, model } = membersOf(text);
  if (Buffer.byteLength(text) > 65_000) return;
  yield {
    isUnordered,
    reply: {
      deviceId: to.deviceId,
      properties: {
        ...{ 'svc-messagetype': 'platformEvent', eventType: `Svc.InformationModel.ObjectModel${happened}`, id: to.id },
        ...{ objectId: String(objectId), model: String(model), target: to.target },
      },
      ...{ correlationId: to.correlationId, isCompressed: false, body: { text } },
    },
  };
}

/** A11, A12: the configuration goes to the device of its owner, or else of the object's; what `first` says goes before it. */
export function* publish(of: StoredModel, model: unknown, id: Expected, first: () => Handling = nothing): Handling {
  const path = ['objects', of.objectId, 'models', 'svc.configuration'];
  const isWanted = model === 'svc.device';
  const { status, body } = isWanted ? yield* ask({ method: 'GET', path }) : { status: 404, body: '' };
  yield* first();
  if (status !== 200) return;
  const { path: own } = membersOf(body);
  const [deviceId = '', ...names] = String(own || of.path || '').split('/');
  if (deviceId === '') return;
  const correlationId = typeof id === 'string' ? systemId(id) : id;
  const happened = of.createdModels.includes('svc.configuration') ? 'Created' : 'Updated';
  yield* notify({ deviceId, id, correlationId, target: names.join('/') }, happened, body);
}

function* nothing(): Handling {}

/** A1, A2: an object model that is created, or found, claimed and updated. */

interface Wanted {
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

interface StoredModel {
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
    ...{ objectId, isNew, path, text: at < 0 ? body : `${body.slice(0, at)}}` },
    relatedModels: relatedModels.map(({ created: _, ...related }: { created: boolean }) => related),
    createdModels: relatedModels
      .filter(({ created }: { created: boolean }) => created)
      .map((one: { model: string }) => one.model),
  };
}

/** A10 and the rules of fetching: reads what is asked for, then notifies of each model that was found. */
export function* synchronise(
  objectId: string,
  model: string,
  options: ReturnType<typeof readOptions>,
  to: Addressed,
): Handling {
  const { hierarchical, contained, recursive, references, related } = options;
  const follows = hierarchical || contained || references.length > 0;
  const found: string[] = [];
  const seen = new Set<string>();

  function* read(id: string, of: string, isRoot = false): Handling<boolean> {
    if (seen.has(`${id}/${of}`)) return true;
    seen.add(`${id}/${of}`);
    const answer = yield* ask({ method: 'GET', path: ['objects', id, 'models', of] }, { isUnordered: !isRoot });
    if (answer.status === 404) {
      if (isRoot) throw new Failure('http_response_error', ['object model']);
      return false;
    }
    found.push(orFail(answer).body);
    return true;
  }

  function* readAll(id: string, isRoot: boolean): Handling {
    const isNew = !seen.has(`${id}/${model}`);
    if (!isNew) return;
    if (!(yield* read(id, model, isRoot))) return;
    for (const other of related) yield* read(id, other);
    if (!follows || (!isRoot && !recursive)) return;
    const path = ['objects', id, 'models', model, 'references', 'out'];
    const answer = orFail(yield* ask({ method: 'GET', path }, { isUnordered: true }));
    for (const { name, to: child, attributes = {} } of JSON.parse(answer.body).data) {
      const isFollowed = hierarchical || (contained ? attributes.isContained === true : references.includes(name));
      if (isFollowed && child.model === model) yield* readAll(child.objectId, false);
    }
  }

  yield* readAll(objectId, true);
  const large = found.filter((text) => Buffer.byteLength(text) > 65_000);
  for (const text of found) yield* notify(to, 'Updated', text, true);
  if (large.length > 0) throw new Failure('response_too_large');
}

/** Only `true` and what is not empty counts. */
export function readOptions(options: Readonly<Record<string, unknown>>, invalid: string) {
  const flag = (name: string): boolean => {
    const value = options[name] ?? false;
    if (typeof value !== 'boolean') throw new Failure(invalid, [name]);
    return value;
  };
  const list = (name: string): string[] => {
    const value = options[name] ?? [];
    if (!Array.isArray(value) || value.some((one) => one !== null && typeof one !== 'string'))
      throw new Failure(invalid, [name]);
    return value.filter((one) => one !== null);
  };
  const read = {
    ...{ hierarchical: flag('hierarchical'), contained: flag('contained'), recursive: flag('recursive') },
    references: list('references'),
    related: list('related'),
  };
  const { hierarchical, contained, recursive, references } = read;
  const ways = [hierarchical, contained, references.length > 0].filter(Boolean).length;
  if (ways > 1 || (recursive && (hierarchical || contained))) throw new Failure(invalid);
  return read;
}
