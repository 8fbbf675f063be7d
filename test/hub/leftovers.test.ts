import { EventHubConsumerClient } from '@azure/event-hubs';
import { inject } from 'iot-hub-emulator/testing';
import { expect, it, vi } from 'vitest';
import { startForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { hubForAll } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import { createPartitionReader } from '../../src/hub/reading/assignment.ts';
import { openEventHubConnection } from '../../src/hub/reading/connection.ts';
import { createConsumer } from '../../src/hub/reading/consumer.ts';
import { receiveAtOnce } from '../../src/hub/receiveCycle.ts';
import { createServiceConnection } from '../../src/hub/replies/replies.ts';
import type { SendRefusal } from '../../src/hub/replies/sendFailure.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { createTaps } from '../../src/observing/taps.ts';
import { readExtents } from '../../src/operations/openers.ts';
import { createMemoryStore } from '../../src/stores/fileCheckpoints.ts';
import { leftByRounds } from '../support/leftByRounds.ts';
import { rotatingSecret } from '../support/secretVolume.ts';
import { startServiceEndpoint } from '../support/serviceEndpoint.ts';
import { signal } from '../support/waiting.ts';
import { usualOpened, usualReading } from './support/reading.ts';
import { repliesOver } from './support/replies.ts';
import { replyTo, senderOver, silence, untold } from './support/replying.ts';

// What is done again and again leaves nothing behind: no memory, no timer, no listener, no connection.

cureHubSdks();

it('nothing is left of replies, of their followers, and of connections for replies that were replaced', async () => {
  const full: SendRefusal = { kind: 'later', reason: 'queue_full' };
  const outcomes: (SendRefusal | undefined)[] = [];
  const sender = senderOver(async () => outcomes.shift(), { maxInFlight: 1 });
  const partition = new AbortController();
  const taps = createTaps();
  const published = () => taps.of('pump-1', { correlationId: 'c' })?.('read', {});
  const endpoint = await startForTest(startServiceEndpoint(() => 'accept'));
  const options = { newClient: endpoint.newClient, answerWithinMs: 60_000, log: silence, troubles: untold };
  const connection = await startForTest(Promise.resolve(createServiceConnection(options)));
  const forget = () => {
    for (const kept of [endpoint.received, endpoint.messages] as unknown[][]) kept.length = 0;
  };
  const sent = async () => expect(await connection.send(replyTo('a'))).toBeUndefined();

  const left = await leftByRounds({
    'replies that wait for their turn, are refused once, or are unanswered at first': {
      async round() {
        vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
        outcomes.push(full, { kind: 'later', reason: 'unanswered', late: Promise.resolve(full) });
        const sending = ['a', 'b', 'c'].map((device) => sender.send(replyTo(device), partition.signal));
        await vi.advanceTimersByTimeAsync(60_000);
        expect(await Promise.all(sending)).toEqual(['delivered', 'delivered', 'delivered']);
        vi.useRealTimers();
      },
    },
    'replies that were closed': { round: () => repliesOver(async () => ({})).close() },
    'followers, also those that fail': {
      round() {
        const end = taps.open({ device: 'pump-1', follow() {} });
        published();
        end?.();
        taps.open({ device: 'pump-1', follow: () => JSON.parse('') });
        published();
        expect(published()).toBeUndefined();
      },
    },
    'a reply on a connection': { round: sent, forget },
    'a connection for replies that was replaced': {
      async round() {
        await sent();
        connection.renew();
      },
      ...{ rounds: 10, forget },
    },
  });
  expect(left).toEqual({});
});

const hub = hubForAll({ partitions: 2 });
const hubOfConsumers = hubForAll({ partitions: 1 });

it('nothing is left of what asks the hub, of subscriptions and connections that were replaced, and of consumers that were stopped', async () => {
  await inject(hub, ['one']);
  const { eventsConnectionString: access } = hub;
  const client = await startForTest(Promise.resolve(new EventHubConsumerClient('$Default', access)));
  receiveAtOnce(client);
  let heard = signal();
  const partition = { admit: async () => {}, position: () => undefined };
  const reader = await startForTest(
    Promise.resolve(
      createPartitionReader(client, {
        ...{
          record: { partition: '1', epoch: 1 },
          partition,
          batchSize: 1,
          prefetch: 1,
          maxWaitSeconds: 1,
          log: silence,
        },
        ...{ lost() {}, failed() {}, heard: () => heard.give() },
      }),
    ),
  );
  const line = await startForTest(
    Promise.resolve(
      openEventHubConnection({ access, consumerGroup: '$Default', silentMs: 10_000, log: silence, troubles: untold }),
    ),
  );
  const { secret: key } = rotatingSecret(hubOfConsumers.eventsConnectionString);

  /** The hub and the client keep a few objects of each connection. */
  const few = { rounds: 5, kept: 4 };
  const left = await leftByRounds({
    'a question for what the hub keeps': {
      round: async () => expect(await readExtents(access, '$Default')).toHaveLength(2),
      ...few,
    },
    'a subscription that was replaced': {
      async round() {
        heard = signal();
        reader.restart(client);
        await heard.given;
      },
      ...few,
    },
    'a connection for events that was replaced': {
      async round() {
        await line.client().getPartitionIds();
        line.replace();
      },
      ...few,
    },
    'a consumer that was stopped': {
      async round() {
        const read = signal();
        const consumer = createConsumer({
          ...usualReading,
          ...{
            access: key,
            store: createMemoryStore(),
            sessionBegins: () => read.give(),
            partition: () => ({ ...usualOpened(), dispatch: async () => true }),
          },
        });
        consumer.start();
        await read.given;
        await consumer.stop();
      },
      ...few,
    },
  });
  expect(left).toEqual({});
});
