import { isDeepStrictEqual } from 'node:util';
import { checkOnce, isObject, membersOf } from './body.ts';
import { createOrUpdate } from './createOrUpdate.ts';
import { isGuid, isModelId, isPath } from './fields.ts';
import { publish } from './notifications.ts';
import { identityOf, keepParent, replace } from './sequences.ts';
import { ask, Failure, type Handling, orFail } from './steps.ts';

type Texts = Readonly<Record<string, string>>;
type Fields = Readonly<Record<string, unknown>>;

interface Action {
  /** Which headers hold. */
  readonly headers: (texts: Texts) => Readonly<Record<string, boolean>>;
  readonly run: (request: {
    readonly deviceId: string;
    readonly texts: Texts;
    readonly text: string;
    readonly bytes: Buffer;
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

export const actions: Readonly<Record<string, Action>> = Object.assign(Object.create(null), {
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
