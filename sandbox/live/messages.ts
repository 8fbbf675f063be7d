import type { Pattern } from '../demonstration/pattern.ts';
import { anyGuid, anyTimestamp } from '../demonstration/pattern.ts';
import { acknowledgement, envelope, ok } from '../stories/wire.ts';

/** A message for a deployment that runs, and what must come back. */
export interface LiveMessage {
  readonly message: string;
  readonly title: string;
  /** `correlationId` or `id`. */
  readonly id: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly body: string;
  /** In this order. */
  readonly replies: readonly LiveReply[];
}

export interface LiveReply {
  readonly what: string;
  readonly properties: Readonly<Record<string, Pattern>>;
  /** An object model may have more than this; an acknowledgement may not. */
  readonly body: { readonly [key: string]: Pattern };
  readonly isModel: boolean;
}

/** Names that nothing else has. */
export interface LiveNames {
  /** Of the run: begins all ids, serial numbers and names. */
  readonly run: string;
  readonly deviceId: string;
  /** GUIDs of the two objects. */
  readonly firstId: string;
  readonly secondId: string;
}

const anyText = /^.+$/s;

/**
 * Every message, in an order in which they succeed: they need nothing that was there before.
 * @param round ends the ids of messages that are sent another time
 */
export function liveMessages(
  { run, deviceId, firstId, secondId }: LiveNames,
  round = '',
): readonly [LiveMessage, ...LiveMessage[]] {
  const at = (name: string) => `${run}-${name}`;
  const model = (objectId: string, version: number, properties: object, variables: object = {}): LiveReply['body'] => ({
    ...{ objectId, model: 'svc.device', type: `${run}@1.0.0`, version, variables: { ...variables } },
    ...{ properties: { ...properties }, ownerId: anyGuid, path: deviceId },
  });
  const sent = (objectId: string, properties: object) => ({ objectId, model: 'svc.device', type: run, properties });
  const first = { serial: at('1'), location: 'hall 1' };
  const second = { serial: at('2'), location: 'hall 2' };
  const moved = { serial: at('2'), location: 'hall 3' };
  const rebuilt = { serial: at('2'), location: 'hall 4' };
  const noIdentity = { success: false, code: 'http_response_error' };

  const say = (
    message: string,
    title: string,
    body: object,
    replies: (id: string) => readonly LiveReply[],
    properties: Readonly<Record<string, string>> = {},
  ): LiveMessage => {
    const id = at(message) + round;
    const text = JSON.stringify(body, null, 2);
    return {
      message,
      title,
      id,
      properties: { ...envelope(message, id), ...properties },
      body: text,
      replies: replies(id),
    };
  };
  const ack =
    (message: string, body: LiveReply['body'], more = {}) =>
    (id: string) => [acknowledged(message, id, body, more)];

  return [
    say(
      'type.create',
      'A type of its own is defined',
      {
        ...{ typeId: run, version: '1.0.0', unique: ['serial'] },
        properties: {
          serial: { dataType: 'string', isMandatory: true, description: 'Unique' },
          location: { dataType: 'string', description: 'Where it stands' },
        },
        variables: { pressure: { dataType: 'number', description: 'In bar' } },
        references: { feeds: { description: 'Another one' } },
        methods: { identify: { description: 'Shows which one it is', input: { seconds: { dataType: 'integer' } } } },
      },
      ack('type.create', { ...ok, typeId: run, model: 'svc.device', version: '1.0.0' }),
    ),
    say(
      'model.create',
      'An object of that type is registered',
      sent(firstId, first),
      ack('model.create', { ...ok, relatedModels: [], objectId: firstId }),
    ),
    say(
      'Svc.Device.Created',
      'A second one, with an event: its object model comes back',
      sent(secondId, second),
      (id) => [
        notified('its model', id, 'ObjectModelCreated', model(secondId, 1, second)),
        acknowledged(
          'Svc.Device.Created',
          id,
          { ...ok, relatedModels: [] },
          { objectId: secondId, model: 'svc.device' },
        ),
      ],
    ),
    say(
      'model.update',
      'Its properties and variables are replaced',
      { type: run, properties: moved, variables: { pressure: 6 }, version: 1 },
      ack('model.update', { ...ok, objectId: secondId, model: 'svc.device', version: 2 }),
      { objectId: secondId },
    ),
    say(
      'Svc.Device.Updated',
      'They are replaced with an event',
      { model: 'svc.device', type: run, properties: rebuilt, variables: { pressure: 8.25 }, version: 2 },
      ack('Svc.Device.Updated', { ...ok, version: 2 }, { objectId: secondId, model: 'svc.device' }),
      { objectId: secondId },
    ),
    say(
      'reference.create',
      'A reference leads from the second to the first',
      [{ name: 'feeds', to: { objectId: firstId, model: 'svc.device' }, attributes: { isContained: false } }],
      ack('reference.create', { ...ok }),
      { objectId: secondId },
    ),
    say(
      'Svc.Device.SyncModel',
      'The second one and what it refers to are fetched',
      { objectId: secondId, model: 'svc.device', references: ['feeds'], recursive: true },
      (id) => [
        notified('the second', id, 'ObjectModelUpdated', model(secondId, 3, rebuilt, { pressure: 8.25 })),
        notified('the first', id, 'ObjectModelUpdated', model(firstId, 1, first)),
        acknowledged('Svc.Device.SyncModel', id, { ...ok }, { objectId: secondId, model: 'svc.device' }),
      ],
    ),
    say(
      'identity.update',
      'An identity that does not exist is not updated: the refusal is the pass',
      { identity: run, publicKey: 'MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=' },
      ack('identity.update', { ...noIdentity, details: anyText }),
    ),
    say(
      'identity.delete',
      'Nor is it deleted',
      { identity: run },
      ack('identity.delete', { ...noIdentity, detail: anyText }),
    ),
  ];
}

/** A message that fails while the principal manager does, and then becomes a dead letter. */
export function failingMessage({ run }: LiveNames): LiveMessage {
  const message = 'identity.update';
  const id = `${run}-dead-letter`;
  const body = { success: false, code: /^(internal_platform_error|timeout_exceeded)$/, details: anyText };
  return {
    ...{ message, title: 'It fails while the principal manager does, and is kept as a dead letter', id },
    properties: envelope(message, id),
    body: JSON.stringify({ identity: run, publicKey: 'MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=' }),
    replies: [acknowledged(message, id, body, {})],
  };
}

function acknowledged(message: string, id: string, body: LiveReply['body'], more: object): LiveReply {
  const { what, properties } = acknowledgement(message, id, {});
  const timed = 'timestamp' in properties ? { timestamp: anyTimestamp } : {};
  return { what, properties: { ...properties, ...timed, ...more }, body, isModel: false };
}

const notified = (what: string, id: string, eventType: string, body: LiveReply['body']): LiveReply => ({
  what,
  properties: {
    ...{ 'svc-messagetype': 'platformEvent', eventType: `Svc.InformationModel.${eventType}`, id },
    ...{ objectId: body['objectId'] ?? null, model: 'svc.device' },
  },
  body,
  isModel: true,
});
