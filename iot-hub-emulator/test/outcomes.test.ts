import { once } from 'node:events';
import fc from 'fast-check';
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

/** So many outcomes, the same in every run with one seed. */
const mixed = (seed: number, count: number) =>
  fc.sample(fc.constantFrom('accepted', 'rejected'), { seed, numRuns: count });

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
      const expected = mixed(seed, 4000);
      const outcomes = await outcomesOf(
        await serviceLink(hub),
        expected.map((outcome, n) => toDevice((outcome === 'accepted' && known[n % known.length]) || 'nobody')),
      );
      expect(outcomes).toEqual(expected);
      const queued = known.reduce((sum, deviceId) => sum + hub.devicebound.pending(deviceId).length, 0);
      expect(queued).toBe(expected.filter((outcome) => outcome === 'accepted').length);
    });
    test('on the link of a device', async () => {
      const expected = mixed(seed, 1000);
      const connection = await bareConnection(hub);
      await putDeviceToken(hub, connection, 'pump-1');
      const sender = connection.open_sender('/devices/pump-1/messages/events');
      await once(sender, 'sendable');
      // lists in so many lists are no property that the hub takes
      const nested = Array.from({ length: 40 }).reduce((inner) => [inner], 'text');
      const messages: Message[] = expected.map((outcome) => ({
        application_properties: { n: outcome === 'accepted' ? 'text' : nested },
        body: 'text',
      }));
      expect(await outcomesOf(sender, messages)).toEqual(expected);
      expect(hub.counters().appended).toBe(expected.filter((outcome) => outcome === 'accepted').length);
    });
  },
);
