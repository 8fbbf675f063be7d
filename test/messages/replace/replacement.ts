import type { Generation } from '../../../src/protocol/event.ts';
import type { Script, ScriptedCall } from '../../support/scriptedBackend.ts';
import { problem, pump, pumpAnswer, pumpId } from '../../support/world.ts';
import type { Row } from '../table/row.ts';

/** How one generation replaces the pump's properties and variables: `model.update` or `Svc.Device.Updated`. */

export const path = `/objects/${pumpId}/models/svc.device`;
export const put = `PUT ${path}`;
export const get = `GET ${path}`;
export const properties = { objectId: pumpId };
export const body = { type: 'pump', properties: { serial: 'FP-1' }, variables: { speed: 3 }, version: 4 };
export const sent = { properties, body };
/** The body with another version, however it is written. */
export const withVersion = (version: number | string) =>
  JSON.stringify(body).replace('"version":4', `"version":${version}`);

export const updates = (version: number): ScriptedCall => ({
  call: put,
  body: JSON.stringify({ ...body, version }),
  reply: [200, pumpAnswer({ version: version + 1 })],
});
/** An update with this version although another one is stored. */
const misses = (version: number): ScriptedCall => ({
  ...updates(version),
  reply: problem(409, 'Version mismatch', { version: version + 1 }),
});
export const stored = (version: number, more: object = {}): ScriptedCall => ({
  call: get,
  reply: [200, pump({ version, ...more })],
});

type Answer = Pick<Row, 'ack' | 'ackProperties'>;

const steps: Readonly<Record<string, (version: number) => ScriptedCall>> = {
  ...{ updates, misses, reads: stored },
  'is unanswered': (version) => ({ ...updates(version), reply: 'lost' }),
  /** What the device sends, or what another has sent. */
  'reads own': (version) => stored(version, { variables: { speed: 3 } }),
  'reads other': (version) => stored(version, { variables: { speed: 4 } }),
  /** The refusal does not say which version is stored. */
  'misses silently': (version) => ({ ...updates(version), reply: problem(409, 'Version mismatch') }),
};

/** `misses 4, reads 5`: the calls for these versions. */
export const callsOf = (text: string): ScriptedCall[] =>
  text.split(', ').map((one) => {
    const [, verb = '', version] = /^(.*) (\d+)$/.exec(one) ?? [];
    const step = steps[verb];
    if (step === undefined) throw new Error(`no call is written as ${one}`);
    return step(Number(version));
  });

/** @param calls as `callsOf` reads them, or as they are */
export const replaceRow = (it: string, given: Partial<Row>, answer: Answer, calls: Script | string): Row => ({
  ...{ it, ...given, ...answer, backend: typeof calls === 'string' ? callsOf(calls) : calls },
});

export interface Replacement {
  readonly version: 'then stored' | 'of the request';
  readonly invalid: string;
  /** With the version that is then stored, or that of the request. */
  done(stored?: number, requested?: number): Answer;
  failed(code: string, details: unknown, requested?: number, model?: string): Answer;
  refused(words: string, requested?: number, model?: string): Answer;
  /** Refused because this version is stored. */
  mismatched(stored: string | number | undefined, requested?: number): Answer;
}

export function replacement(generation: Generation): Replacement {
  const isV1 = generation === 'V1';
  const failed: Replacement['failed'] = (code, details, requested = 4, model = 'svc.device') => {
    const ack = { success: false, code, details };
    return isV1 ? { ack: { ...ack, version: requested }, ackProperties: { ...properties, model } } : { ack };
  };
  const refused: Replacement['refused'] = (words, requested, model) =>
    failed('http_response_error', `information model: replace object model failed with ${words}`, requested, model);
  return {
    version: isV1 ? 'of the request' : 'then stored',
    invalid: isV1 ? 'platform_event_validation_error' : 'validation_error',
    done(stored = 5, requested = 4) {
      const [ack, named] = [
        { success: true, code: 'ok', details: '' },
        { ...properties, model: 'svc.device' },
      ];
      return isV1
        ? { ack: { ...ack, version: requested }, ackProperties: named }
        : { ack: { ...ack, ...named, version: stored } };
    },
    failed,
    refused: (words, requested, model) => refused(`${words}: as it is`, requested, model),
    mismatched(stored, requested) {
      const told = stored === undefined ? '' : `; the stored version is ${stored}`;
      return refused(`HTTP 409: Version mismatch: as it is${told}`, requested);
    },
  };
}
