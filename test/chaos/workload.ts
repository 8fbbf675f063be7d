import { v5 } from 'uuid';
import { emptyElements, nestedLists, section } from '../../iot-hub-emulator/test/support/rawAmqp.ts';
import type { Random } from './random.ts';
import { type Draft, type Message, sealed } from './sealed.ts';

/** A device, what it sends in which order, and how many of these at once. */
export type Sender = Readonly<{ deviceId: string; messages: readonly Message[]; atOnce: number }>;

/** Identities that are connected through each device in the beginning. */
export const connected = ['module-0', 'module-1', 'module-2'];

const namespace = '6f0a7d7e-0c58-4a4e-9b6e-0b3f8f8f5c11';
const model = 'svc.device';
const messagesEach = 20;
const inARound = 4;
/** Every so many devices one floods. */
const floodingOne = 25;

/** Bodies just beyond the bounds within which AMQP is decoded (D190). */
const undecoded: readonly Buffer[] = [
  section('value', nestedLists(33)),
  section('value', emptyElements(257)),
  section('sequence', emptyElements(257)),
];

/** What devices send: registrations and updates, types, references, identities, questions, mistakes, and bodies that are no data. */
export const createWorkload = (random: Random, devices: number): Sender[] =>
  Array.from({ length: devices }, (_, index) => {
    const floods = index % floodingOne === floodingOne - 1;
    const deviceId = `device-${index}`;
    const messages = messagesOf(deviceId, floods, random);
    return { deviceId, messages, atOnce: floods ? messages.length : inARound };
  });

function messagesOf(deviceId: string, floods: boolean, random: Random): Message[] {
  const count = floods ? 3 * messagesEach : messagesEach;
  const pump = v5(deviceId, namespace);
  const part = v5(`${deviceId} part`, namespace);
  let version = 0;
  let typeVersion = 0;

  const body = (id: string) => ({ model, type: 'pump@1', properties: { serial: deviceId, location: id } });
  /** Fills the room of messages that wait; not in what notifications tell, which would not fit. */
  const longText = () => 'x'.repeat(random.between(100_000, 200_000));
  const filler = () => (floods ? { filler: longText() } : {});
  const sensor = (id: string) => ({ model, type: 'sensor@1', properties: { quantity: id } });
  const described = (id: string) => ({
    ...sensor(id),
    properties: { quantity: id, ...(floods && { unit: longText() }) },
  });

  const register = (id: string): Draft => {
    version += 1;
    const isV1 = random.next() < 0.4;
    const tells = isV1 ? ([model, 'svc.configuration'] as const) : (['svc.configuration'] as const);
    return {
      ...(isV1 ? { eventType: 'Svc.Device.Created' } : { action: 'model.create' }),
      intent: { does: 'create', object: pump, tells },
      body: { objectId: pump, ...body(id) },
    };
  };
  const replace = (id: string, from: number): Draft => ({
    ...(random.next() < 0.25 ? { eventType: 'Svc.Device.Updated' } : { action: 'model.update' }),
    intent: { does: 'replace', object: pump, version: from },
    properties: { objectId: pump, model },
    body: { ...body(id), version: from },
  });
  const drafts: readonly (readonly [number, (id: string) => Draft])[] = [
    [30, (id) => replace(id, version++)],
    [6, (id) => replace(id, version - 1)], // stale, and refused unless what should have come before had failed
    [5, register],
    [8, (id) => ({ action: 'model.create', intent: { does: 'create', tells: [] }, body: described(id) })],
    [4, (id) => ({ eventType: 'Svc.Device.Created', intent: { does: 'create', tells: [model] }, body: sensor(id) })],
    [
      5,
      (id) => ({
        action: 'model.create',
        intent: { does: 'create', object: part, tells: [] },
        body: { objectId: part, ...sensor(id) },
      }),
    ],
    [
      6,
      (id) => ({
        action: 'reference.create',
        intent: { does: 'refer', object: pump, to: part },
        properties: { objectId: pump, model },
        body: [{ name: 'contains', to: { objectId: part, model }, attributes: { isContained: true, by: id } }],
      }),
    ],
    [
      8,
      (id) => {
        typeVersion += random.next() < 0.75 || typeVersion === 0 ? 1 : 0; // or once more, which is refused
        const type = { typeId: `type-of-${deviceId}`, version: `1.${typeVersion}.0` };
        const properties = { by: { dataType: 'string', description: id } };
        return {
          action: 'type.create',
          intent: { does: 'define', type: `${type.typeId}@${type.version}` },
          body: { ...type, properties },
        };
      },
    ],
    [
      8,
      (id) => ({
        action: 'identity.update',
        intent: { does: 'identify' },
        ...(random.next() < 0.5 && { properties: { context: `user of ${id}` } }),
        body: { publicKey: id, ...filler() },
      }),
    ],
    [
      4,
      () => {
        const identity = random.pick(connected);
        return { action: 'identity.delete', intent: { does: 'remove', identity }, body: { identity } };
      },
    ],
    [
      8,
      () => {
        const contained = random.next() < 0.5;
        return {
          eventType: 'Svc.Device.SyncModel',
          intent: { does: 'fetch', object: pump, contained },
          properties: { objectId: pump, model },
          body: { contained, related: ['svc.configuration'] },
        };
      },
    ],
    [3, () => ({ action: 'model.update', intent: { does: 'nothing', code: 'validation_error' }, body: filler() })],
    [
      3,
      () => ({ action: 'model.query', intent: { does: 'nothing', code: 'operation_not_supported' }, body: filler() }),
    ],
    [
      3,
      () => ({
        ...{ action: 'type.create', intent: { does: 'nothing', code: 'validation_error' }, body: {} },
        sections: random.pick(undecoded),
      }),
    ],
    [2, () => ({ intent: { does: 'nothing', code: undefined }, body: {} })],
  ];
  const lots = drafts.flatMap(([share, draft]) => Array.from({ length: share }, () => draft));
  return Array.from({ length: count }, (_, index) => {
    const id = `${deviceId}-${index}`;
    return sealed(id, deviceId, index === 0 ? register(id) : random.pick(lots)(id), random);
  });
}
