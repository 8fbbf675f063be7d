import rhea from 'rhea';
import type { Ways } from '../otherwise/ways.ts';
import { codes, headOf } from './amqpSections.ts';
import type { Numbering } from './numbering.ts';

/** Another form of the same event, of which application properties and body stay. */
export type EventForm = (encoded: Buffer, deviceId: string, offset: number) => Buffer;

const reshaping = [
  'events.hub-time',
  'events.no-partition-key',
  'events.routed-stamps',
  'events.offset',
  'events.ids',
] as const;
const stamps = [
  'iothub-connection-device-id',
  'iothub-connection-auth-method',
  'iothub-connection-auth-generation-id',
  'iothub-message-source',
];
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Undefined when the usual form is wanted. */
export function createEventForm(ways: Ways, numbering: Numbering): EventForm | undefined {
  if (!reshaping.some((way) => ways.has(way))) return undefined;
  const idOf = (id: unknown) =>
    ways.has('events.ids') && typeof id === 'string' && uuid.test(id)
      ? rhea.types.wrap_uuid(rhea.string_to_uuid(id) as never)
      : id;

  return (encoded, deviceId, offset) => {
    const sections = headOf(encoded);
    const changing = [codes.messageAnnotations, codes.properties].map((code) => sections?.get(code) ?? noSection);
    const own = Buffer.concat(changing);
    const { body: _, message_annotations: annotations = {}, ...head } = rhea.message.decode(own);
    if (ways.has('events.hub-time')) delete annotations['iothub-enqueuedtime'];
    if (ways.has('events.routed-stamps')) for (const name of stamps) delete annotations[name];
    const message_annotations = {
      ...typed(annotations),
      'x-opt-offset': numbering.offset(offset),
      ...(ways.has('events.no-partition-key') && { 'x-opt-partition-key': deviceId }),
    };
    const ids = { message_id: idOf(head.message_id), correlation_id: idOf(head.correlation_id) };
    const section = rhea.message.encode({ ...head, ...ids, message_annotations, body: noBody } as never);
    return Buffer.concat([section, encoded.subarray(own.length)]);
  };
}

const noSection = Buffer.alloc(0);
const noBody = { collect_sections: () => undefined };

/** The annotations with the types that decoding has taken from them. */
function typed(annotations: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { wrap_long, wrap_timestamp } = rhea.types;
  const entries = Object.entries(annotations).map(([name, value]) => {
    if (name === 'x-opt-sequence-number') return [name, wrap_long(value as number)];
    return [name, value instanceof Date || /time$/.test(name) ? wrap_timestamp(Number(value)) : value];
  });
  return Object.fromEntries(entries);
}
