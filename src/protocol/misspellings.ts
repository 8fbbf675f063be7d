import type { HubEvent } from './event.ts';

/** The properties that identify our messages, by their names in lower case (R3). */
const watchedNames = [
  { lowerCase: 'msgtype', name: 'msgType', value: 'action' },
  { lowerCase: 'svc-messagetype', name: 'svc-messagetype', value: 'platformEvent' },
] as const;

const questionMark = 0x3f;

/**
 * A misspelt property name because of which a message, or one of its properties, is ignored; as a text for the developer of
 * the device. Reads every name but only two values, because most messages are telemetry.
 * @param isOurs whether the message is for this service in spite of it
 */
export function misspellingIn({ properties = {} }: HubEvent, isOurs: boolean): string | undefined {
  for (const name of Object.keys(properties)) {
    if (name.charCodeAt(0) === questionMark)
      return 'a property name begins with ?, which is then part of the name: leave it out';
    if (isOurs || (name.length !== 7 && name.length !== 15)) continue;
    const meant = watchedNames.find(({ lowerCase }) => lowerCase === name.toLowerCase());
    if (meant === undefined) continue;
    const value = properties[name];
    const isSlip = name !== meant.name || value !== meant.value;
    if (isSlip && typeof value === 'string' && value.toLowerCase() === meant.value.toLowerCase()) {
      return `property ${meant.name} must be spelt like this, and so must its value ${meant.value}, capital letters included`;
    }
  }
  return undefined;
}
