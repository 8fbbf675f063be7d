import { checkOnce, isObject, isWith, membersOf } from './body.ts';
import { createOrUpdate } from './createOrUpdate.ts';
import { isGuid, isModelId, isPath, typeOf } from './fields.ts';
import { type Addressed, notify, publish } from './notifications.ts';
import { connectParent, replace } from './sequences.ts';
import { type Expected, Failure, type Handling } from './steps.ts';
import { readOptions, synchronise } from './synchronise.ts';

type Texts = Readonly<Record<string, string>>;
type Fields = Readonly<Record<string, unknown>>;
interface Subject {
  objectId?: Expected;
  model?: Expected;
}

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

const invalid = 'platform_event_validation_error';
const device = 'svc.device';
const headers = ({ objectId, model }: Texts) => ({
  objectId: objectId === undefined || isGuid(objectId),
  model: model === undefined || isModelId(model),
});

export const events: Readonly<Record<string, EventCard>> = Object.assign(Object.create(null), {
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
        yield* replace(objectId, model, text, invalid);
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
      const options = readOptions(membersOf(text), invalid);
      const { objectId, model } = agreed(texts, text, [], []);
      const isModelGiven = texts['model'] !== undefined || membersOf(text)['model'] !== undefined;
      if (objectId === null || !isModelGiven) throw new Failure(invalid, objectId === null ? ['objectId'] : ['model']);
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
  checkOnce(text, ['objectId', 'model', ...keys], invalid);
  if (!isObject(JSON.parse(text))) throw new Failure(invalid, ['body']);
  const { objectId = null, model } = membersOf(text);
  const wrong = [...faults];
  if (objectId !== null && !isGuid(objectId)) wrong.push('objectId');
  if (model !== undefined && !isModelId(model)) wrong.push('model');
  if (wrong.length > 0) throw new Failure(invalid, wrong);
  if (objectId !== null && texts['objectId'] !== undefined && texts['objectId'] !== objectId)
    throw new Failure(invalid, ['objectId']);
  if (model !== undefined && texts['model'] !== undefined && texts['model'] !== model)
    throw new Failure(invalid, ['model']);
  return {
    objectId: texts['objectId'] ?? (objectId === null ? null : String(objectId)),
    model: texts['model'] ?? String(model ?? device),
  };
}
