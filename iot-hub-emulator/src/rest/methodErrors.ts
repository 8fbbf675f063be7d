import { randomBytes } from 'node:crypto';
import type { Ways } from '../otherwise/ways.ts';
import type { Refusal } from '../values/refusal.ts';
import type { RestAnswer } from './request.ts';

// The first three digits are the status. Azure documents no code for an answer that is not JSON (502001), and none for a
// call with a wrong key: these are guesses.
const codes: Readonly<Record<string, number>> = {
  'amqp:not-found': 404001,
  'amqp:unauthorized-access': 401002,
  'com.microsoft:invalid-protocol-version': 400001,
  'com.microsoft:argument-error': 400004,
  'com.microsoft:device-container-throttled': 429001,
  'com.microsoft:device-not-online': 404103,
  'com.microsoft:timeout': 504101,
  'com.microsoft:too-many-calls': 403800,
  'com.microsoft:bad-device-response': 502001,
  'com.microsoft:payload-too-large': 400004,
};
/** The contrary of what is believed. */
const otherCodes: Readonly<Record<string, Partial<Record<string, number>>>> = {
  'methods.codes': { 'com.microsoft:bad-device-response': 502000, 'amqp:unauthorized-access': 401000 },
  'methods.payload': { 'com.microsoft:payload-too-large': 413001 },
};

/** A refusal as IoT Hub words it for direct methods: JSON with the code and the sentence, inside a text of JSON. */
export function methodError(errorCode: number, message: string): RestAnswer {
  const timestampUtc = new Date().toISOString();
  const trackingId = `${randomBytes(16).toString('hex')}-G:1-TimeStamp:${timestampUtc}`;
  const Message = JSON.stringify({ errorCode, trackingId, message, info: {}, timestampUtc });
  return { status: Math.floor(errorCode / 1000), body: { Message, ExceptionMessage: '' } };
}

/** The answer to a service whose method call the hub refuses. */
export function refuseMethod({ condition, message }: Refusal, otherwise: Ways): RestAnswer {
  const [other] = [...otherwise].flatMap((way) => otherCodes[way]?.[condition] ?? []);
  return methodError(other ?? codes[condition] ?? 400004, message);
}
