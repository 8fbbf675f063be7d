import { unpack } from '../../sandbox/terminal/showMessage.ts';
import { type Due, differences, rule } from './differences.ts';
import { messageIdAt, type Place } from './places.ts';
import type { Message } from './sealed.ts';
import type { Devicebound } from './stage.ts';
import { ourFault } from './traces.ts';

export type Seen = Pick<Devicebound, 'deviceId' | 'system' | 'properties' | 'body' | 'time'>;

/** What the form of the replies to one message depends on. */
export interface Circumstances {
  /** Bodies that backends have decided on for the message. */
  readonly answers: readonly string[];
  /** Id of the object that the message has created without naming it, as the backend holds it. */
  readonly createdId: string | undefined;
  /** A fault has met it, or it was handled again: then its related models may have been created before, or not at all. */
  readonly isTroubled: boolean;
  readonly places: readonly Place[];
  /** Of instances: how far ahead each clock was set at some time, in milliseconds. */
  readonly clockErrors: readonly number[];
}

/**
 * Compares everything that a device sees of a reply with what the specification says: the device it goes to, every
 * system and application property, and every member of the body. Whether the reply is due at all, and its code, is
 * not asked here (D430).
 */
export function flawsOf(reply: Seen, message: Message, circumstances: Circumstances): string[] {
  const text = unpack(reply).toString('utf8');
  const body: Readonly<Record<string, unknown>> = JSON.parse(text);
  const isAck = 'code' in body;
  const isCompressed = reply.properties['content-encoding'] === 'gzip';
  const due = isAck ? acknowledgement(message, reply, body, circumstances) : notification(message, reply, body);
  return [
    ...differences('its', { deviceId: reply.deviceId }, { deviceId: message.deviceId }),
    ...differences(
      'system property',
      { ...reply.system },
      systemOf(message, aboutOf(reply, body), isCompressed, circumstances),
    ),
    ...differences('property', reply.properties, due.properties),
    ...differences('member', body, due.body),
    ...(isAck || circumstances.answers.some((answer) => isModelOf(answer, text))
      ? []
      : ['its body is not what a backend has answered']),
  ];
}

type Form = Readonly<{ properties: Readonly<Record<string, Due>>; body: Readonly<Record<string, Due>> }>;

/** The clocks of the hub and of the service are one, but each rounds for itself. */
const roundingMs = 2;

/** P4: when the service has answered, which is after the hub has received the message and before it has taken the reply. */
const timeOfAnswer = ({ time }: Seen, { places, clockErrors }: Circumstances) =>
  rule('a time in UTC with milliseconds, between those of the message and of the reply', (value) => {
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(String(value))) return false;
    return [0, ...clockErrors].some((aheadMs) => {
      const at = Date.parse(String(value)) - aheadMs;
      return at <= time + roundingMs && places.some(({ enqueuedTime }) => at >= enqueuedTime - roundingMs);
    });
  });

/** C1: what the reply says, as far as its id tells; a failure that is parked may become a success. */
function aboutOf({ properties }: Seen, { code }: { readonly code?: unknown }): string {
  if (code === undefined) return `about ${properties['model']} of ${properties['objectId']?.toLowerCase()}`;
  return ourFault.has(String(code)) ? 'failed acknowledgement' : 'acknowledgement';
}

const anyDetails = rule(
  'one sentence or several, at most 1,000 characters',
  (value) => typeof value === 'string' && value.length > 0 && value.length <= 1_000,
);
const anyList = rule('an array', Array.isArray);
const anyEvent = rule('the name of a model notification', (value) =>
  /^Svc\.InformationModel\.ObjectModel(Created|Updated)$/.test(String(value)),
);

/** C1 */
const systemOf = ({ id, deviceId }: Message, about: string, isCompressed: boolean, { places }: Circumstances) => ({
  messageId: rule('derived from the event and from what the reply says', (value) =>
    places.some((place) => messageIdAt(place, deviceId, about) === value),
  ),
  correlationId: id,
  to: `/devices/${deviceId}/messages/devicebound`,
  contentType: isCompressed ? 'text/plain' : 'application/json',
  contentEncoding: 'utf-8',
});

function acknowledgement(
  message: Message,
  reply: Seen,
  { code }: { readonly code?: unknown },
  circumstances: Circumstances,
): Form {
  const { id, properties, said } = message;
  const success = code === 'ok';
  const target = properties['target'] || undefined; // P4
  const { action, eventType } = properties;
  const name = action ?? eventType ?? '';
  const own = echoes[name]?.(message, said as Body, success, circumstances);
  // spec: identity.delete uses the key "detail"
  const details = { [name === 'identity.delete' ? 'detail' : 'details']: success ? '' : anyDetails };
  const common =
    action === undefined
      ? { 'svc-messagetype': 'platformEventAck', eventType, id, target }
      : {
          ...{ msgType: 'ack', action, version: '2', correlationId: id, target },
          timestamp: timeOfAnswer(reply, circumstances),
        };
  // C3; this workload needs no compression for its size
  const isCompressed = properties['content-encoding'] === 'gzip';
  return {
    properties: { ...common, ...(isCompressed && { 'content-encoding': 'gzip' }), ...own?.properties },
    body: { success, code, ...details, ...own?.body },
  };
}

interface Body {
  readonly objectId?: string;
  readonly type?: string;
  readonly typeId?: string;
  readonly version?: number | string;
  readonly identity?: string;
}

type Echo = (message: Message, said: Body, success: boolean, circumstances: Circumstances) => Partial<Form>;

/** P4: both names of an identity are those of the request, empty where it had none. */
const identityOf: Echo = ({ properties: { context } }, { identity = '' }, success) => ({
  properties: context === undefined ? {} : { context },
  body: success ? { parent: '', identity } : {},
});
const subjectOf = ({ properties: { objectId, model } }: Message) => ({ objectId, model });

/** What the acknowledgement of each message has beyond the common members. */
const echoes: Readonly<Record<string, Echo>> = {
  'model.create': (_, said, success, circumstances) => ({
    body: { ...relatedOf(said, success, circumstances), ...(success && { objectId: idOf(said, circumstances) }) },
  }),
  'Svc.Device.Created': (_, said, success, circumstances) => ({
    properties: { model: 'svc.device', ...(success && { objectId: idOf(said, circumstances) }) },
    body: relatedOf(said, success, circumstances),
  }),
  // A5
  'model.update': (message, { version }, success) => ({
    body: success ? { ...subjectOf(message), version: Number(version) + 1 } : {},
  }),
  'Svc.Device.Updated': (message, { version }) => ({ properties: subjectOf(message), body: { version } }),
  'type.create': (_, { typeId, version }, success) => ({
    body: success ? { typeId, model: 'svc.device', version } : {},
  }),
  'identity.update': identityOf,
  'identity.delete': identityOf,
  'Svc.Device.SyncModel': (message) => ({ properties: subjectOf(message) }),
};

const idOf = ({ objectId }: Body, { createdId }: Circumstances) => objectId ?? createdId;

/** A3, B1: a pump has settings of its own, a sensor has not. */
function relatedOf({ type }: Body, success: boolean, { isTroubled }: Circumstances) {
  const settings = { model: 'svc.configuration', success: true, code: 'ok', details: '' };
  if (isTroubled || !success) return { relatedModels: anyList };
  return { relatedModels: type === 'pump@1' ? [settings] : [] };
}

function notification({ id, intent, properties }: Message, { properties: seen }: Seen, body: Body): Form {
  const { model } = seen;
  // A11: what is subscribed to goes to the owner, which is the device itself here
  const isRequested = intent.does === 'fetch' || model === 'svc.device';
  const target = isRequested ? properties['target'] || undefined : undefined; // P4
  const objectId = seen['objectId'];
  return {
    properties: { 'svc-messagetype': 'platformEvent', eventType: anyEvent, id, objectId, model, target },
    body: { ...body, objectId, model },
  };
}

/** R5: the bytes of the model as the backend has answered it, without what it has said beside. */
function isModelOf(answer: string, text: string): boolean {
  if (answer === text) return true;
  try {
    const { relatedModels: _, ...model } = JSON.parse(answer);
    return JSON.stringify(model) === text;
  } catch {
    return false;
  }
}
