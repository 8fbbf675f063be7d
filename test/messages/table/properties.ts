import { expect } from 'vitest';
import type { Generation } from '../../../src/protocol/event.ts';
import { bearerToken } from '../../support/environment.ts';
import { requestProperties } from '../../support/events.ts';
import { hostileTargets, shown, strangeTargets, targetFault } from '../../support/hostileNames.ts';
import type { ScriptedCall } from '../../support/scriptedBackend.ts';
import type { Row } from './row.ts';
import type { Sample, Variations } from './sample.ts';

export function propertyRows(of: Variations, generation: Generation, name: string, sample: Sample): readonly Row[] {
  const { success, failure, having } = of;
  const filler = (total: number) => {
    const taken = Object.entries({ ...requestProperties[generation](name), ...success.properties, x: '' });
    return 'x'.repeat(taken.reduce((left, [key, value]) => left - Buffer.byteLength(`${key}${value}`), total));
  };
  return [
    { ...having(success, { x: filler(32_768) }), it: 'may take 32,768 bytes {S13.9 S21.2}' },
    {
      ...failure(
        { x: filler(32_769) },
        'the message properties exceed the 32 kB header limit (32768 bytes of names and values)',
        'platform_event_validation_error',
      ),
      it: `are refused at one byte more${of.kind === 'action' ? ', with a code of their own' : ''} {S13.9 S20.5}`,
    },
    {
      ...failure({ ack: 'sometimes' }, 'property ack must be none, positive, negative or all'),
      it: 'must have a known ack; another value counts as all {S2.6 S3.5}',
    },
    ...strangeTargets.map((target) => ({
      ...having(success, { target }, { target }),
      it: `may have any target, which comes back unchanged: ${target} {S2.7}`,
    })),
    ...hostileTargets.map((target) => ({
      ...having(failure({}, `property target ${targetFault}`), { target }, { target }),
      it: `must have a target without control characters: ${shown(target)} {S2.7}`,
    })),
    { ...having(success, of.typed, of.echoed), it: 'have the same meaning typed and as text {S2.4 S2.8}' },
    {
      ...having(success, { 'hub-connection-device-id': 'd2', 'iothub-connection-device-id': 'd2' }),
      it: 'do not identify the sender: each call is made for the device that the hub has authenticated {S2.1 S3.1}',
      backend: success.backend.map((one) => ({ ...one, headers: { ...one.headers, ...headersOf(one) } })),
    },
    ...(generation === 'V2' ? rowsOfActions(of) : rowsOfEvents(of, name, sample)),
  ];
}

const rowsOfActions = ({ failure }: Variations): readonly Row[] => [
  { ...failure({ version: 1 }, 'property version must be 2'), it: 'must have version 2 {S2.4 S20.1 S22.1}' },
  {
    ...failure({ correlationId: undefined }, 'property correlationId is required'),
    it: 'must have a correlationId {S2.5}',
    ackProperties: { correlationId: undefined },
  },
  {
    ...failure({ timeout: '901' }, 'property timeout must be whole seconds from 1 to 900'),
    it: 'must have a time-out of whole seconds up to the maximum {S2.8}',
  },
];

function rowsOfEvents({ success, failure, having, invalid }: Variations, name: string, sample: Sample): readonly Row[] {
  const { properties, body } = success;
  const tooLong = failure({}, 'the device id is longer than 512 bytes when percent-encoded');
  return [
    {
      ...tooLong,
      it: 'do not help a device whose id is too long for the backends',
      device: 'd'.repeat(513),
      ack: { ...tooLong.ack, ...sample.readBody },
      ackProperties: sample.readProperties ?? tooLong.ackProperties,
    },
    ...[name.toLowerCase(), 'Svc.Device.Deleted', 'model.update', 'constructor'].map((other) => ({
      properties: { ...properties, eventType: other },
      body,
      it: `must have an eventType of this service, case-sensitively: ${other}`,
      ack: {
        success: false,
        code: 'operation_not_supported',
        details: expect.stringContaining(`eventType "${other}" is not one of this service; the nearest is Svc.Device.`),
      },
      ackProperties: { eventType: other },
    })),
    {
      properties: { ...properties, eventType: undefined },
      body,
      it: 'must have an eventType',
      ack: { success: false, code: invalid, details: 'property eventType is required' },
      ackProperties: { eventType: undefined },
    },
    {
      ...having(
        failure({}, 'property ack must be none, positive, negative or all'),
        { ack: 'sometimes', target: '..', objectId: 'x' },
        { target: '..' },
      ),
      it: 'are checked in stages, before the body: the first fault decides the answer',
      body: '{',
      ackProperties: { ...sample.failureProperties, target: '..', objectId: undefined },
    },
  ];
}

/** On every call; mutations have a key besides. */
const headersOf = ({ call }: ScriptedCall) => ({
  authorization: `Bearer ${bearerToken}`,
  'x-svc-device-id': 'd1',
  'x-correlation-id': 'c-1',
  traceparent: /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/,
  ...(/^GET |^POST \/query$/.test(call) ? {} : { 'idempotency-key': /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/ }),
});
