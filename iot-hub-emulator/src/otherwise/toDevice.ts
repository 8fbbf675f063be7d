import type { Message } from '../values/message.ts';
import type { Ways } from './ways.ts';

/** What a message to a device counts besides its size. */
export function sizeOtherwise({ properties }: Message, ways: Ways): number {
  return ways.has('c2d.size') ? 256 + 16 * Object.keys(properties).length : 0;
}

/** A message as its device gets it. */
export function messageOtherwise(
  message: Message,
  ways: Ways,
  wasUuid: (id: 'messageId' | 'correlationId') => boolean,
): Message {
  const { system, properties, body } = message;
  const capitals = (['messageId', 'correlationId'] as const).filter((id) => ways.has('c2d.ids') && wasUuid(id));
  const ids = Object.fromEntries(capitals.map((id) => [id, system[id]?.toUpperCase()]));
  if (ways.has('c2d.prefix'))
    for (const name in properties) if (name.startsWith('iothub-') && name !== 'iothub-ack') delete properties[name];
  return { system: { ...system, ...ids }, properties, body };
}
