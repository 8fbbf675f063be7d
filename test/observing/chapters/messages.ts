import { setMaxListeners } from 'node:events';
import { vi } from 'vitest';
import { createReceivedMessages } from '../../../src/dispatch/recognition.ts';
import { findCard } from '../../../src/messages/index.ts';
import { createLog, createTroubles } from '../../../src/observing/log.ts';
import { createMessageRecords } from '../../../src/observing/messageRecords.ts';
import type { Meter } from '../../../src/observing/metrics.ts';
import { createEnvelopeReader } from '../../../src/protocol/envelope.ts';
import { type Generation, undecodedProperties } from '../../../src/protocol/event.ts';
import { Rejection } from '../../../src/protocol/rejection.ts';
import type { Reply } from '../../../src/protocol/reply.ts';
import type { Delivery, ResultCode } from '../../../src/protocol/vocabulary.ts';
import { messageLimits } from '../../../src/settings/constants.ts';
import { LetterRefused } from '../../../src/stores/deadLetterStore.ts';
import { createParking } from '../../../src/stores/parking.ts';
import { hubEvent } from '../../support/events.ts';
import { now, receivedMessageOf } from '../../support/wiring.ts';
import { type Chapter, times } from '../support/points.ts';

const log = createLog('silent');
const ours = { msgType: 'action', action: 'model.create', version: 2 };

/** How often messages of a name end with a code, and at whom it is; a name that is not in the catalogue stands for any such. */
const ends: readonly [times: number, code: ResultCode, name: string, generation: Generation, at?: string][] = [
  [50, 'ok', 'model.create', 'V2'],
  [52, 'validation_error', 'model.update', 'V2', 'device'],
  [53, 'platform_event_validation_error', 'Svc.Device.Created', 'V1', 'device'],
  [54, 'not_authorized', 'Svc.Device.Updated', 'V1', 'device'],
  [55, 'http_response_error', 'Svc.Device.SyncModel', 'V1', 'device'],
  [56, 'operation_not_supported', 'model.unknown', 'V2', 'device'],
  [57, 'decompression_error', 'type.create', 'V2', 'device'],
  [58, 'response_too_large', 'reference.create', 'V2', 'device'],
  [59, 'delivery_failed', 'Svc.Device.Archived', 'V1', 'hub'],
  [60, 'timeout_exceeded', 'identity.update', 'V2', 'service'],
  [61, 'internal_platform_error', 'identity.delete', 'V2', 'service'],
];
/** The name that an operator reads. */
const told = (name: string) => (/unknown|Archived/.test(name) ? '_OTHER' : name);

const replies: readonly [times: number, delivery: Delivery][] = [
  [62, 'delivered'],
  [63, { dropped: 'hub_unavailable' }],
  [64, { dropped: 'queue_full' }],
  [65, { dropped: 'throttled' }],
  [66, { dropped: 'unanswered' }],
  [67, { dropped: 'not_taken' }],
  [68, { dropped: 'unknown_device' }],
  [69, { dropped: 'too_large' }],
  [70, { dropped: 'refused' }],
];

const reply: Reply = {
  ...{ kind: 'notification', deviceId: 'd1', messageId: 'm-1', correlationId: 'c-1', properties: {}, body: '{}' },
};

function handle(meter: Meter) {
  const messages = createMessageRecords({ log, meter });
  const begin = (generation: Generation, name: string, readAt?: number, event = hubEvent({ properties: ours })) => {
    const { envelope } = createEnvelopeReader(messageLimits)(
      generation,
      {},
      'd1',
      '6f1c1f6e-5a3c-5b0e-9d3f-0a1c3c1f2a3b',
    );
    return messages.begin(
      { ...receivedMessageOf(event), generation },
      envelope,
      findCard(generation, name)?.name,
      readAt,
    );
  };
  for (const [count, code, name, generation] of ends) {
    for (let done = 0; done < count; done += 1) {
      const observation = begin(generation, name);
      vi.advanceTimersByTime(5);
      observation.answers();
      observation.ended(code === 'ok' ? undefined : new Rejection(code, 'why'));
    }
  }
  const enqueuedTimeUtc = new Date(Date.now() - 902 - 901);
  const event = { ...hubEvent({ properties: ours }), enqueuedTimeUtc };
  const observation = begin('V2', 'model.create', performance.now() - 902, event);
  observation.answers();
  const all = replies.flatMap(([count, delivery]) =>
    Array.from({ length: count }, () => [observation.reply(reply), delivery] as const),
  );
  vi.advanceTimersByTime(903);
  for (const [one, delivery] of all) one.ended(delivery);
  observation.ended(undefined);
}

async function recognise(meter: Meter) {
  const recognised = createReceivedMessages('hub', meter, log)('0');
  await times(73, () => recognised(hubEvent({ properties: ours }), false));
  await times(24, () => recognised(hubEvent(), false));
  await times(25, () => recognised(hubEvent({ properties: ours, device: '' }), false));
  await times(26, () => recognised({ ...hubEvent(), body: undecodedProperties }, false));
  await times(27, () => recognised(hubEvent({ properties: { ...ours, '?ack': 'all' } }), false));
}

async function park(meter: Meter) {
  const remove = async () => {};
  const [receivedMessage, failure] = [
    receivedMessageOf(hubEvent({ properties: ours })),
    new Rejection('delivery_failed', 'why'),
  ];
  const store = { park: async () => {}, remove };
  const wait = { ended: new AbortController().signal, waits() {} };
  setMaxListeners(0, wait.ended); // as that of a partition
  const parkingIn = (deadLetters: typeof store) =>
    createParking({ deadLetters, meter, log, troubles: createTroubles(log), now: () => now });
  const parking = parkingIn(store);
  await times(21, () => parking.park(receivedMessage, failure, '', wait));
  const refusing = parkingIn({ park: () => Promise.reject(new LetterRefused('too many', 'delete some')), remove });
  await times(22, () => refusing.park(receivedMessage, failure, '', wait));
  const waiting = parkingIn({ park: () => Promise.reject(new Error('503')), remove });
  await times(20, () => void waiting.park(receivedMessageOf(hubEvent({ properties: ours })), failure, '', wait));
}

/** From the hub to the end of each message. */
export const messages: Chapter = {
  async record(meter) {
    handle(meter);
    await recognise(meter);
    await park(meter);
  },
  points: {
    'messaging.client.consumed.messages': {
      'kind=message': 100, // with the 27 that have a misspelt property
      'kind=skipped': 24,
      'kind=unattributed': 25,
      'kind=undecodable': 26,
    },
    'device_messaging.misspellings': { '': 27 },
    'device_messaging.dead_letters.waiting': { '': 20 },
    'device_messaging.dead_letters': { 'result=parked': 21, 'result=not_parked': 22 },
    'device_messaging.handled.messages': Object.fromEntries(
      ends.map(([count, code, name, generation]) => [
        `code=${code} message=${told(name)} generation=${generation}`,
        code === 'ok' ? 51 : count, // with the one of the replies
      ]),
    ),
    'messaging.process.duration': Object.fromEntries(
      ends.map(([count, , name, generation, at]) => [
        `message=${told(name)} generation=${generation}${at ? ` error.type=${at}` : ''}`,
        count / 200,
      ]),
    ),
    'device_messaging.wait.duration': { 'stage=hub': 0.901, 'stage=lane': 0.902 },
    'device_messaging.replies.duration': { '': 0.903 },
    'device_messaging.replies': Object.fromEntries(
      replies.map(([count, one]) => [`result=${typeof one === 'string' ? one : one.dropped}`, count]),
    ),
  },
};
