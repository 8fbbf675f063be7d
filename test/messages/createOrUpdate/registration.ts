import type { Generation } from '../../../src/protocol/event.ts';
import type { ScriptedCall } from '../../support/scriptedBackend.ts';
import {
  derivedObjectId,
  device,
  devicePrincipal,
  noConfiguration,
  problem,
  pump,
  pumpAnswer,
  pumpId,
  sensorPrincipal,
  unownedPump,
} from '../../support/world.ts';
import { forbidden, type Row, type related, toldOf } from '../table/row.ts';

/** How one generation registers the pump: `model.create` or `Svc.Device.Created`. */

export const pumpBody = { type: 'pump', name: 'Feed pump', properties: { serial: 'FP-1' }, variables: { speed: 3 } };
export const ofSensor = { owner: 'edge/sensor-1' };
export const isNew = { objectId: derivedObjectId };

const model = 'svc.device';
export const readPump = `GET /objects/${pumpId}/models/${model}`;
export const putPump = `PUT /objects/${pumpId}/models/${model}`;
export const claimPump = `PUT /objects/${pumpId}/models/${model}/owner`;
export const readConfiguration = `GET /objects/${pumpId}/models/svc.configuration`;

export const absent = { call: readPump, reply: problem(404, 'Not found') } as const;
export const stored = (more: object = {}) => ({ call: readPump, reply: [200, pump(more)] }) as const;
export const unowned = { call: readPump, reply: [200, unownedPump()] } as const;
export const claims = (ownerId = devicePrincipal) => ({ call: claimPump, body: { ownerId }, reply: [204] }) as const;
export const lookUp = (...hits: unknown[]) =>
  ({
    call: 'POST /query',
    body: '{"model":"svc.device","type":"pump","properties":{"serial":"FP-1"}}',
    reply: [200, { data: hits }],
  }) as const;
/** What is asked about the pump, or about a new object: its owner before the given calls, its `svc.configuration` after them. */
export const forPump = (...calls: readonly ScriptedCall[]) => [device, ...calls, noConfiguration(pumpId)];
export const forNew = (...calls: readonly ScriptedCall[]) => [device, ...calls, noConfiguration(derivedObjectId)];
type Calls = readonly ScriptedCall[];
/** A row with these calls after that for the owner. */
export const deviceRow = (it: string, sent: Request['sent'], answer: Answer, calls: Calls): Row => ({
  ...{ it, ...sent, ...answer },
  backend: [device, ...calls],
});
/** One about the pump, or about a new object, whose `svc.configuration` is asked for at the end. */
export const pumpRow = (it: string, sent: Request['sent'], answer: Answer, calls: Calls): Row =>
  deviceRow(it, sent, answer, [...calls, noConfiguration(pumpId)]);
export const newRow = (it: string, sent: Request['sent'], answer: Answer, calls: Calls): Row =>
  deviceRow(it, sent, answer, [...calls, noConfiguration(derivedObjectId)]);
/** Hits that do not have the unique properties of the request. */
export const otherPumps = (count: number) =>
  Array.from({ length: count }, () => pump({ properties: { serial: 'FP-2' } }));
export const type = (path: string, definition: object) =>
  ({
    call: `GET /modelDefinitions/svc.device/types/${path}`,
    reply: [200, { model, typeId: path, ...definition }],
  }) as const;

export const failure = (code: string, details: unknown) => ({ success: false, code, details, relatedModels: [] });

type Fields = Readonly<Record<string, string | undefined>>;
type Notification = NonNullable<Row['notifications']>[number];
type Answer = Pick<Row, 'ack' | 'ackProperties' | 'notifications'>;

/** What the device sends, and what the information model is then asked for, if all goes well. */
export interface Request {
  readonly sent: { readonly properties: Fields; readonly body: string };
  readonly creates: ScriptedCall;
  updates(version: number): ScriptedCall;
}

interface Further {
  readonly relatedModels?: readonly ReturnType<typeof related>[];
  readonly configuration?: Notification;
}

export interface Registration {
  /** How the table calls the place of `owner`. */
  readonly header: string;
  readonly invalid: string;
  /** A request that names its object, or names none: then the service makes one up. */
  named(body?: object | string, properties?: Fields): Request;
  unnamed(body?: object | string, properties?: Fields): Request;
  created(model?: Stored, further?: Further): Answer;
  updated(model?: Stored, further?: Further): Answer;
  failed(code: string, details: unknown): Answer;
  refused(operation: string, words: string): Answer;
  notAuthorized(words: string): Answer;
}

type Stored = { readonly objectId: string; readonly model: string };

/** The notification of a model; that of the pump goes to the target of the request. */
export const news = (eventType: 'Created' | 'Updated', body: Stored, more: Fields = {}): Notification => ({
  properties: {
    eventType: `Svc.InformationModel.ObjectModel${eventType}`,
    objectId: body.objectId,
    model: body.model,
    target: 'edge',
    ...more,
  },
  body,
});
/** It goes to the owner, which is the device itself. */
export const configurationNews = (eventType: 'Created' | 'Updated', more: object = {}) =>
  news(eventType, pump({ model: 'svc.configuration', ...more }), { target: undefined });

/** The body with these members before the others. */
export const withMembers = (body: object | string, members: object): string => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return Object.keys(members).length === 0 ? text : `${JSON.stringify(members).slice(0, -1)},${text.slice(1)}`;
};

export function registration(generation: Generation): Registration {
  const isV1 = generation === 'V1';

  function request(objectId: string | undefined, body: object | string, properties: Fields): Request {
    const id = objectId ?? derivedObjectId;
    const owner = properties['owner'] === undefined ? devicePrincipal : sensorPrincipal;
    const at = owner === devicePrincipal ? {} : { ownerId: owner, path: 'd1/edge/sensor-1' };
    const named: Fields = objectId === undefined ? {} : { objectId };
    const text = isV1 ? withMembers(body, {}) : withMembers(body, { ...named, model });
    return {
      sent: { properties: isV1 ? { ...named, ...properties } : properties, body: text },
      creates: {
        call: isV1 ? `POST /objects/${id}?owner=${owner}` : `POST /object?owner=${owner}`,
        body: isV1 ? withMembers(text, { model }) : objectId ? text : withMembers(text, { objectId: id }),
        reply: [201, pumpAnswer({ objectId: id, ...at })],
      },
      updates: (version) => ({
        call: putPump,
        body: withMembers(text, { version }),
        reply: [200, pumpAnswer({ version: version + 1 })],
      }),
    };
  }

  const failed = (code: string, details: unknown): Answer => ({
    ack: failure(code, details),
    ...(isV1 && { ackProperties: { model } }),
  });
  const answers =
    (eventType: 'Created' | 'Updated') =>
    (about: Stored, { relatedModels = [], configuration }: Further = {}): Answer => {
      const ack = { success: true, code: 'ok', details: '', relatedModels: toldOf(relatedModels) };
      const { objectId } = about;
      const beside = configuration ? [configuration] : [];
      if (!isV1) return { notifications: beside, ack: { ...ack, objectId } };
      return {
        notifications: [news(eventType, about), ...beside],
        ack,
        ackProperties: { objectId, model: about.model },
      };
    };
  return {
    header: isV1 ? 'properties' : 'header',
    invalid: isV1 ? 'platform_event_validation_error' : 'validation_error',
    named: (body = pumpBody, properties = {}) => request(pumpId, body, properties),
    unnamed: (body = pumpBody, properties = {}) => request(undefined, body, properties),
    created: (about = pump(), further) => answers('Created')(about, further),
    updated: (about = pump({ version: 2 }), further) => answers('Updated')(about, further),
    failed,
    refused: (operation, words) =>
      failed('http_response_error', `information model: ${operation} object model failed with ${words}: as it is`),
    notAuthorized: (words) => failed('not_authorized', forbidden(words)),
  };
}
