import { type Message, messageSize } from '../values/message.ts';
import { Refusal } from '../values/refusal.ts';
import { strictlyValid } from './strictProperties.ts';

/** What a cloud-to-device message may be, whatever queue it goes to. */
export interface MessageRules {
  /** Its size in bytes as `messageSize` counts. */
  bytes: number;
  /** How far ahead the time may be at which it expires, in milliseconds. */
  longestLifeMs: number;
}

/** Refuses a message that is too large, would live too long or (strict) has property characters that are not documented. */
export function admit(message: Message, { bytes, longestLifeMs }: MessageRules, strict: boolean, now: number): void {
  if (messageSize(message) > bytes)
    throw new Refusal('amqp:link:message-size-exceeded', 'A cloud-to-device message may have 65,536 bytes.');
  if (strict && !strictlyValid(message))
    throw new Refusal('com.microsoft:argument-error', 'A property has characters that IoT Hub does not allow.');
  if (Date.parse(message.system.expiryTime ?? '') > now + longestLifeMs)
    throw new Refusal(
      'com.microsoft:argument-error',
      `ErrorCode:InvalidMessageExpiryTime;403009: a message may expire ${longestLifeMs / 3_600_000} hours ahead.`,
    );
}
