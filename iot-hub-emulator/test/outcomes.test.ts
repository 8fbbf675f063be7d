import { once } from 'node:events';
import type { Delivery, EventContext, Message, Sender } from 'rhea';
import { describe, expect, test } from 'vitest';
import { bareConnection, putDeviceToken, serviceLink, toDevice } from './support/bare.ts';
import { hubForEach } from './support/sharedHub.ts';

// rhea as a server gives the second of two outcomes that leave together the state of the first. Of many messages on one
// link, each must have its own outcome.

const known = Array.from({ length: 100 }, (_, number) => `pump-${number}`);
const hub = hubForEach({ devices: known.map((deviceId) => ({ deviceId })), partitions: 1 });

/** The test runner says where random tests begin. */
const firstSeed = Number(process.env['TEST_SEED'] ?? 1);

/** Numbers below `most`, the same in every run with one seed. */
function dice(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

/** Send all as fast as there is credit. The answer has the outcome of each, in the order in which they were sent. */
async function outcomesOf(sender: Sender, messages: readonly Message[]): Promise<(string | undefined)[]> {
  const places = new Map<Delivery | undefined, number>();
  const outcomes: (string | undefined)[] = messages.map(() => undefined);
  let next = 0;
  let settled = 0;
  const pump = () => {
    for (; next < messages.length && sender.sendable(); next++)
      places.set(sender.send(messages[next] as Message), next);
  };
  return new Promise((resolve) => {
    for (const outcome of ['accepted', 'rejected'])
      sender.on(outcome, ({ delivery }: EventContext) => {
        outcomes[places.get(delivery) ?? -1] = outcome;
        settled += 1;
        if (settled === messages.length) resolve(outcomes);
        else pump();
      });
    sender.on('sendable', pump);
    pump();
  });
}

describe.each([0, 1, 2].map((number) => firstSeed + number))(
  'each of many messages has its own outcome, in mixture %d,',
  (seed) => {
    test('on the link of a service', async () => {
      const roll = dice(seed);
      const recipients = Array.from({ length: 4000 }, (_, n) => (roll(2) === 0 ? 'nobody' : known[n % known.length]));
      const expected = recipients.map((deviceId) => (deviceId === 'nobody' ? 'rejected' : 'accepted'));
      const outcomes = await outcomesOf(
        await serviceLink(hub),
        recipients.map((deviceId = '') => toDevice(deviceId)),
      );
      expect(outcomes).toEqual(expected);
      const queued = known.reduce((sum, deviceId) => sum + hub.devicebound.pending(deviceId).length, 0);
      expect(queued).toBe(expected.filter((outcome) => outcome === 'accepted').length);
    });
    test('on the link of a device', async () => {
      const roll = dice(seed);
      const good = Array.from({ length: 1000 }, () => roll(2) === 0);
      const connection = await bareConnection(hub);
      await putDeviceToken(hub, connection, 'pump-1');
      const sender = connection.open_sender('/devices/pump-1/messages/events');
      await once(sender, 'sendable');
      // lists in so many lists are no property that the hub takes
      const nested = Array.from({ length: 40 }).reduce((inner) => [inner], 'text');
      const messages: Message[] = good.map((isGood) => ({
        application_properties: { n: isGood ? 'text' : nested },
        body: 'text',
      }));
      const outcomes = await outcomesOf(sender, messages);
      expect(outcomes).toEqual(good.map((isGood) => (isGood ? 'accepted' : 'rejected')));
      expect(hub.counters().appended).toBe(good.filter(Boolean).length);
    });
  },
);
