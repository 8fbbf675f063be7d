import type { CrashRecord } from '../../src/engine/crashRecord.ts';
import type { DeadLetter } from '../../src/stores/deadLetter.ts';
import { hubEvent } from '../support/events.ts';
import { letter } from '../support/letters.ts';

// What is recorded in the formats of a release, and read again by every later build. Never changed: a later release may add.

export const group = { namespace: 'hub.example', hub: 'devices', consumerGroup: 'group' };
export const place = [group.namespace, group.hub, group.consumerGroup].join(' ');

/** Partition 0 is read; partition 1 is released, and had crashes. */
export const read = { partition: '0', owner: 'reader', epoch: 3, wantedBy: 'asker', wantedSince: 1_767_000_000_000 };
export const released = { partition: '1', owner: '', epoch: 7, wantedBy: '', wantedSince: 0, begun: 5_040 };

/** Done above each position. */
export const runs = [
  { first: 102, last: 104 },
  { first: 131, last: 131 },
];
export const positions = {
  read: { sequenceNumber: 100, offset: '4096' },
  released: { sequenceNumber: 5_000, offset: '-1' },
};

export const crashRecord: CrashRecord = {
  ...{ ends: 2, upTo: 5_040, alone: 5_017 },
  suspects: new Map([[5_017, { isInWork: true, ends: 1 }]]),
};

/** A body of bytes, one of text and one of another kind, of both generations; a device and properties with odd names. */
export const letters: readonly DeadLetter[] = [
  letter(11),
  letter(12, {
    ...{ deviceId: 'pump/ä 1', generation: 'V1', attempts: 3, code: 'http_response_error' },
    event: {
      ...hubEvent({ sequenceNumber: 12, properties: { 'svc-messagetype': 'platformEvent', ['__proto__']: 'own' } }),
      body: 'a text',
    },
  }),
  letter(13, {
    origin: { hub: 'devices', partition: 'a-$1' },
    event: { ...hubEvent({ sequenceNumber: 13 }), body: { an: ['object', null, 1.5] } },
  }),
];

/** What ids are derived from: an event's id, and that of a reply or a call. */
export const origin = { hub: 'devices', partition: '1' };
export const purposes = ['acknowledgement', 'POST /object 0'];
