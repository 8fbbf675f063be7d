import { isDeepStrictEqual } from 'node:util';
import {
  type Addressed,
  ask,
  createOrUpdate,
  type Expected,
  Failure,
  type Handling,
  notify,
  orFail,
  publish,
  readOptions,
  type Sent,
  synchronise,
} from './steps.ts';
import {
  ackOf,
  checkOnce,
  hasControls,
  isGuid,
  isModelId,
  isObject,
  isPath,
  isTimeout,
  isWith,
  membersOf,
  systemId,
  textOf,
  typeOf,
} from './values.ts';

/** The principal of a device, of a path below it, or of a name below that (A1, A7). */
export function* identityOf(deviceId: string, path: string, identity?: string): Handling<string> {
  const query = { device: deviceId, ...(path && { path }), ...(identity !== undefined && { identity }) };
  const answer = orFail(yield* ask({ method: 'GET', path: ['devices'], query }, { isKnown: true }));
  const [found] = JSON.parse(answer.body).data;
  if (found === undefined) throw new Failure('http_response_error', ['identity']);
  return found.id;
}

interface Link {
  readonly name: string;
  readonly to: { readonly objectId: string; readonly model: string };
  readonly attributes?: { readonly isParent?: boolean };
}

/** A9: the reference to the parent, which is made once and never changed. Answers why it failed. */
function* connectParent(
  objectId: string,
  model: string,
  parent: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, unknown>>,
): Handling<Failure | undefined> {
  const path = ['objects', objectId, 'models', model, 'references', 'out'];
  try {
    const answer = orFail(yield* ask({ method: 'GET', path }), fields);
    const present: readonly Link[] = JSON.parse(answer.body).data;
    const isIt = ({ name, to }: Link) =>
      name === parent['reference'] && to.objectId === parent['objectId'] && to.model === model;
    const isOther = (one: Link) =>
      !isIt(one) && (one.name === parent['reference'] || one.attributes?.isParent === true);
    if (present.some(isOther)) return new Failure('http_response_error', ['parent'], fields);
    if (present.some((one) => isIt(one) && one.attributes?.isParent === true)) return undefined;
    const to = { objectId: parent['objectId'], model };
    // One that is there already keeps what else it says.
    const attributes = { ...present.find(isIt)?.attributes, isParent: true };
    const whole = [{ name: parent['reference'], to, attributes }];
    const body = (sent: string) => isDeepStrictEqual(JSON.parse(sent), whole);
    orFail(yield* ask({ method: 'POST', path, body }), fields);
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

/** A9: references with attributes to a model of the same id leave the parent what it is. Answers those that are written, unless they are those that were sent. */
function* keepParent(path: readonly string[], sent: unknown): Handling<unknown> {
  const mayBeParent = (one: unknown) =>
    isObject(one) && 'attributes' in one && isObject(one['to']) && one['to']['model'] === path[3];
  if (!Array.isArray(sent) || !sent.some(mayBeParent)) return undefined;
  const answer = yield* ask({ method: 'GET', path });
  const present: readonly Link[] = answer.status === 404 ? [] : JSON.parse(orFail(answer).body).data;
  const nameOf = ({ name, to }: Link) => JSON.stringify([name, to.objectId.toLowerCase(), to.model]);
  const parents = new Set(present.filter(({ attributes }) => attributes?.isParent === true).map(nameOf));
  const whole = sent.map((one: Link) => {
    if (!isObject(one.attributes)) return one;
    if (parents.has(nameOf(one))) return { ...one, attributes: { ...one.attributes, isParent: true } };
    if (one.attributes['isParent'] !== true) return one;
    if (parents.size > 0) throw new Failure('http_response_error', ['isParent']);
    parents.add(nameOf(one));
    return one;
  });
  return isDeepStrictEqual(whole, sent) ? undefined : whole;
}

/** A4: the version that is stored afterwards. */
function* replace(objectId: string, model: string, text: string, invalid: string): Handling<number> {
  const path = ['objects', objectId, 'models', model];
  const { version } = membersOf(text);
  const first = yield* ask({ method: 'PUT', path, body: text });
  if (first.status !== 409 || !Number.isInteger(version)) return versionOf(orFail(first).body);
  const wanted = Number(version);
  let stored = versionOf(orFail(yield* ask({ method: 'GET', path })).body);
  if (stored >= wanted) throw new Failure('http_response_error', ['ersion']);
  if (wanted - stored > 100) throw new Failure(invalid, ['version', '100']);
  while (stored <= wanted) {
    const body = isWith('version', stored, text);
    stored = versionOf(orFail(yield* ask({ method: 'PUT', path, body })).body);
  }
  return stored;
}

const versionOf = (body: string): number => Number(membersOf(body)['version']);

type Texts = Readonly<Record<string, string>>;
type Fields = Readonly<Record<string, unknown>>;

interface Action {
  /** Which headers hold. */
  readonly headers: (texts: Texts) => Readonly<Record<string, boolean>>;
  readonly run: (request: {
    readonly deviceId: string;
    readonly texts: Texts;
    readonly text: string;
  }) => Handling<Fields>;
  /** The member with the details, where it is another. */
  readonly details?: string;
  /** What a failure has besides. */
  readonly failed?: Fields;
}

const invalid = 'validation_error';
const device = 'svc.device';
const ofModel = ({ model = device }: Texts) => ({ model: isModelId(model) });
const ofObject = (texts: Texts) => ({ objectId: isGuid(texts['objectId']), ...ofModel(texts) });

const actions: Readonly<Record<string, Action>> = Object.assign(Object.create(null), {
  'model.create': {
    headers: ({ owner = '' }) => ({ owner: isPath(owner) }),
    failed: { relatedModels: [] },
    *run({ deviceId, texts, text }) {
      checkOnce(text, ['objectId', 'model', 'type', 'properties', 'version'], invalid);
      const { objectId = null, model, type, properties } = membersOf(text);
      const subject = { deviceId, owner: texts['owner'] ?? '', objectId, model, type, properties, text };
      const created = yield* createOrUpdate({ ...subject, pathOf: () => ['object'], whole: text });
      const id = texts['correlationId'] ?? '';
      yield* publish(created, model, id);
      return { objectId: created.objectId, relatedModels: created.relatedModels };
    },
  },
  'model.update': {
    headers: ofObject,
    *run({ texts, text }) {
      checkOnce(text, ['version'], invalid);
      const { objectId = '', model = device } = texts;
      const version = yield* replace(objectId, model, text, invalid);
      return { objectId, model, version };
    },
  },
  'type.create': {
    headers: ofModel,
    *run({ texts, text }) {
      const { model = device } = texts;
      if (Buffer.byteLength(text) > 65_536) throw new Failure(invalid, ['65536']);
      checkOnce(text, ['typeId', 'version'], invalid);
      const path = ['modelDefinitions', model, 'types'];
      const answer = orFail(yield* ask({ method: 'POST', path, body: text }));
      const { typeId, version } = membersOf(answer.body);
      return { typeId, model, version };
    },
  },
  'reference.create': {
    headers: ofObject,
    *run({ texts, text }) {
      const { objectId = '', model = device } = texts;
      const path = ['objects', objectId, 'models', model, 'references', 'out'];
      const whole = yield* keepParent(path, JSON.parse(text));
      const body = whole === undefined ? text : (sent: string) => isDeepStrictEqual(JSON.parse(sent), whole);
      orFail(yield* ask({ method: 'POST', path, body }));
      return {};
    },
  },
  'identity.update': {
    headers: () => ({}),
    *run({ deviceId, texts, text }) {
      checkOnce(text, ['identity'], invalid);
      const { parent = '' } = texts;
      const { identity } = membersOf(text);
      if (!isObject(JSON.parse(text))) throw new Failure(invalid, ['body']);
      if (identity !== undefined && (typeof identity !== 'string' || identity === ''))
        throw new Failure(invalid, ['identity']);
      if (identity !== undefined && !isPath(parent)) throw new Failure(invalid, ['parent']);
      const id = yield* identityOf(deviceId, identity === undefined ? '' : parent, identity);
      orFail(yield* ask({ method: 'PUT', path: ['devices', id], body: text }));
      return { parent, identity: identity ?? '' };
    },
  },
  'identity.delete': {
    headers: ({ parent = '' }) => ({ parent: isPath(parent) }),
    details: 'detail',
    *run({ deviceId, texts, text }) {
      checkOnce(text, ['identity'], invalid);
      const { parent = '' } = texts;
      const { identity } = membersOf(text);
      if (typeof identity !== 'string' || identity === '')
        throw new Failure(invalid, [isObject(JSON.parse(text)) ? 'identity' : 'body']);
      const id = yield* identityOf(deviceId, parent, identity);
      orFail(yield* ask({ method: 'DELETE', path: ['devices', id] }));
      return { parent, identity };
    },
  },
} satisfies Record<string, Action>);

type Subject = { objectId?: Expected; model?: Expected };

interface EventCard {
  readonly headers: (texts: Texts) => Readonly<Record<string, boolean>>;
  readonly run: (request: {
    readonly deviceId: string;
    readonly texts: Texts;
    readonly text: string;
    readonly notification: Addressed;
    /** Is told what the event is about, as far as it is known. */
    readonly subject: Subject;
  }) => Handling<Fields>;
  readonly failed?: Fields;
  /** The properties of the acknowledgement that say what it is about. */
  readonly named: (subject: Subject, texts: Texts, success: boolean) => Subject;
}

const invalidEvent = 'platform_event_validation_error';

const headers = ({ objectId, model }: Texts) => ({
  objectId: objectId === undefined || isGuid(objectId),
  model: model === undefined || isModelId(model),
});

const events: Readonly<Record<string, EventCard>> = Object.assign(Object.create(null), {
  'Svc.Device.Created': {
    headers: (texts) => ({ ...headers(texts), owner: isPath(texts['owner'] ?? '') }),
    failed: { relatedModels: [] },
    named: ({ objectId, model }, texts, success) => ({
      ...(success && objectId !== undefined && { objectId }),
      model: model ?? { either: texts['model'] ?? device },
    }),
    *run({ deviceId, texts, text, notification, subject }) {
      Object.assign(subject, mentioned(texts, text));
      const { parent = null, type, properties } = membersOf(text);
      const { objectId, model } = agreed(
        texts,
        text,
        ['type', 'parent', 'properties', 'version'],
        [
          ...(typeOf(type) ? [] : ['type']),
          ...(parent === null || isObject(parent) ? [] : ['parent']),
          ...(isObject(parent) && !isGuid(parent['objectId']) ? ['parent.objectId'] : []),
          ...(isObject(parent) && !isName(parent['reference']) ? ['parent.reference'] : []),
        ],
      );
      subject.model = model;
      const whole = Object.hasOwn(membersOf(text), 'model') ? text : isWith('model', model, text);
      const pathOf = (id: string | RegExp) => ['objects', id];
      const asked = { deviceId, owner: texts['owner'] ?? '', objectId, model, type, properties, text };
      const created = yield* createOrUpdate({ ...asked, pathOf, whole });
      subject.objectId = created.objectId;
      const fields = { relatedModels: created.relatedModels };
      const failure = isObject(parent) ? yield* connectParent(created.objectId, model, parent, fields) : undefined;
      const tell = () => notify(notification, created.isNew ? 'Created' : 'Updated', created.text);
      if (failure !== undefined) {
        yield* tell();
        throw failure;
      }
      yield* publish(created, model, notification.id, tell);
      return fields;
    },
  },
  'Svc.Device.Updated': {
    headers: (texts) => ({ ...headers(texts), objectId: isGuid(texts['objectId']) }),
    named: (subject, texts) => subjectOr(subject, texts),
    *run({ texts, text, subject }) {
      Object.assign(subject, mentioned(texts, text));
      const { type, version } = membersOf(text);
      const fields = Number.isInteger(version) ? { version } : {};
      try {
        const { objectId = '' } = texts;
        const { model } = agreed(
          texts,
          text,
          ['type', 'version'],
          [...(typeOf(type) ? [] : ['type']), ...(Number.isInteger(version) ? [] : ['version'])],
        );
        Object.assign(subject, { objectId, model });
        yield* replace(objectId, model, text, invalidEvent);
      } catch (error) {
        throw error instanceof Failure ? new Failure(error.code, error.mentions, fields) : error;
      }
      return fields;
    },
  },
  'Svc.Device.SyncModel': {
    headers,
    named: (subject, texts) => subjectOr(subject, texts),
    *run({ texts, text, notification, subject }) {
      Object.assign(subject, mentioned(texts, text));
      const options = readOptions(membersOf(text), invalidEvent);
      const { objectId, model } = agreed(texts, text, [], []);
      const isModelGiven = texts['model'] !== undefined || membersOf(text)['model'] !== undefined;
      if (objectId === null || !isModelGiven)
        throw new Failure(invalidEvent, objectId === null ? ['objectId'] : ['model']);
      Object.assign(subject, { objectId, model });
      yield* synchronise(objectId, model, options, notification);
      return {};
    },
  },
} satisfies Record<string, EventCard>);

const isName = (value: unknown) => typeof value === 'string' && value !== '';

const subjectOr = ({ objectId, model }: Subject, texts: Texts): Subject => ({
  objectId: objectId ?? { either: texts['objectId'] ?? '' },
  model: model ?? { either: texts['model'] ?? device },
});

/** What a refused body says it is about; an acknowledgement may say it, too. */
function mentioned(texts: Texts, text: string): Subject {
  const { objectId, model } = membersOf(text);
  return {
    objectId: { either: texts['objectId'] ?? String(objectId) },
    model: { either: texts['model'] ?? String(model ?? device) },
  };
}

/** A9: id and model from properties or body, where they must agree; fails with all that is wrong with the body. */
function agreed(texts: Texts, text: string, keys: readonly string[], faults: readonly string[]) {
  checkOnce(text, ['objectId', 'model', ...keys], invalidEvent);
  if (!isObject(JSON.parse(text))) throw new Failure(invalidEvent, ['body']);
  const { objectId = null, model } = membersOf(text);
  const wrong = [...faults];
  if (objectId !== null && !isGuid(objectId)) wrong.push('objectId');
  if (model !== undefined && !isModelId(model)) wrong.push('model');
  if (wrong.length > 0) throw new Failure(invalidEvent, wrong);
  if (objectId !== null && texts['objectId'] !== undefined && texts['objectId'] !== objectId)
    throw new Failure(invalidEvent, ['objectId']);
  if (model !== undefined && texts['model'] !== undefined && texts['model'] !== model)
    throw new Failure(invalidEvent, ['model']);
  return {
    objectId: texts['objectId'] ?? (objectId === null ? null : String(objectId)),
    model: texts['model'] ?? String(model ?? device),
  };
}

const uuid = /^[\da-f]{8}-[\da-f]{4}-5[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** R3: whether it is a request, and of which generation. */
export function* handle({ properties, body }: Sent, deviceId: string): Handling {
  const texts = Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, String(value)]));
  if (texts['msgType'] === 'action') yield* handleAction(texts, body, deviceId);
  else if (texts['msgType'] !== undefined || texts['svc-messagetype'] !== 'platformEvent') return;
  else if (!texts['eventType']?.startsWith('Svc.InformationModel.')) yield* handleEvent(texts, body, deviceId);
}

function* handleAction(texts: Texts, body: Buffer, deviceId: string): Handling {
  const { target = '', context } = texts;
  const action = texts['action'] || undefined;
  const correlationId = texts['correlationId'] || undefined;
  const card = action === undefined ? undefined : actions[action];
  const { details = 'details', failed = {} } = card ?? {};
  const encoding = texts['content-encoding'] ?? '';
  const answer = yield* outcomeOf(details, failed, function* () {
    checkSize(texts);
    checkAck(texts, invalid);
    const faults = Object.entries({
      action: action !== undefined,
      version: texts['version'] === '2',
      correlationId: correlationId !== undefined,
      timeout: (texts['timeout'] ?? '') === '' || isTimeout(texts['timeout'] ?? ''),
      target: !hasControls(target),
    });
    check(faults, invalid);
    if (card === undefined) throw new Failure('operation_not_supported');
    check(Object.entries(card.headers(texts)), invalid);
    return yield* card.run({ deviceId, texts, text: textOf(body, encoding, invalid) });
  });
  if (!isWanted(texts, answer.success)) return;
  yield {
    reply: {
      deviceId,
      properties: {
        ...{ msgType: 'ack', version: '2', target, timestamp: time },
        ...(action !== undefined && { action }),
        ...(correlationId !== undefined && { correlationId }),
        ...(context !== undefined && action === 'identity.update' && { context }),
      },
      correlationId: systemId(correlationId),
      isCompressed: encoding.toLowerCase() === 'gzip' && answer.value['code'] !== 'decompression_error',
      body: answer,
    },
  };
}

function* handleEvent(texts: Texts, body: Buffer, deviceId: string): Handling {
  const { target = '' } = texts;
  const eventType = texts['eventType'] || undefined;
  const id: Expected = texts['id'] ? texts['id'] : uuid;
  const systemIdOfEvent = typeof id === 'string' ? systemId(id) : id;
  const card = eventType === undefined ? undefined : events[eventType];
  const { failed = {} } = card ?? {};
  const subject: { objectId?: Expected; model?: Expected } = {};
  const answer = yield* outcomeOf('details', failed, function* () {
    checkSize(texts);
    checkAck(texts, invalidEvent);
    check(Object.entries({ eventType: eventType !== undefined, target: !hasControls(target) }), invalidEvent);
    if (card === undefined) throw new Failure('operation_not_supported');
    check(Object.entries(card.headers(texts)), invalidEvent);
    const plain = ['', 'utf8', 'utf-8', 'identity'];
    check([['content-encoding', plain.includes((texts['content-encoding'] ?? '').toLowerCase())]], invalidEvent);
    const text = textOf(body, '', invalidEvent);
    const notification = { deviceId, correlationId: systemIdOfEvent, id, target };
    return yield* card.run({ deviceId, texts, text, notification, subject });
  });
  if (!isWanted(texts, answer.success)) return;
  yield {
    reply: {
      deviceId,
      properties: {
        ...{ 'svc-messagetype': 'platformEventAck', id, target },
        ...(eventType !== undefined && { eventType }),
        ...(card === undefined ? {} : card.named(subject, texts, answer.success)),
      },
      ...{ correlationId: systemIdOfEvent, isCompressed: false, body: answer },
    },
  };
}

/** The acknowledgement's body: of a success with what the handling gives, of a failure with what always stands in it. */
function* outcomeOf(
  details: string,
  failed: Readonly<Record<string, unknown>>,
  run: () => Handling<Readonly<Record<string, unknown>>>,
): Handling<{ success: boolean; value: Readonly<Record<string, unknown>>; mentions: readonly string[] }> {
  try {
    return { success: true, value: { success: true, code: 'ok', [details]: '', ...(yield* run()) }, mentions: [] };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { code, mentions, fields } = error;
    const value = { success: false, code, [details]: /^.{1,1000}$/s, ...failed, ...fields };
    return { success: false, value, mentions };
  }
}

function check(rules: readonly (readonly [string, boolean])[], code: string): void {
  const faults = rules.filter(([, holds]) => !holds).map(([name]) => name);
  if (faults.length > 0) throw new Failure(code, faults);
}

/** R7 */
function checkSize(texts: Texts): void {
  const bytes = Object.entries(texts).reduce((sum, pair) => sum + Buffer.byteLength(pair.join('')), 0);
  if (bytes > 32_768) throw new Failure('platform_event_validation_error', ['32 kB']);
}

function checkAck({ ack = '' }: Texts, code: string): void {
  if (ackOf(ack) === undefined) throw new Failure(code, ['ack']);
}

/** P1, C5 */
const isWanted = ({ ack = '' }: Texts, success: boolean): boolean =>
  ['all', success ? 'positive' : 'negative'].includes(ackOf(ack) ?? 'all');
