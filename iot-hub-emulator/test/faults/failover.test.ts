import { once } from 'node:events';
import { EventHubConsumerClient } from '@azure/event-hubs';
import { describe, expect, test } from 'vitest';
import { inject } from '../../src/testing/inject.ts';
import { append, ended, eventReceiver, outcomeOf, serviceLink, toDevice } from '../support/bare.ts';
import { hubForEach, hubToRestart } from '../support/sharedHub.ts';

const hub = hubForEach({ devices: [{ deviceId: 'pump-1' }], partitions: 2 });
const failOver = (left?: 'closed' | 'silent') => hub.faults.strike({ kind: 'failover', ...(left && { left }) });

/** What an official client of the present endpoint reads, until it has so many events; or its first error. */
async function readAll(count: number, connectionString = hub.eventHubConnectionString('events')): Promise<string[]> {
  const client = new EventHubConsumerClient('$Default', connectionString, { retryOptions: { maxRetries: 0 } });
  const found: string[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      client.subscribe(
        {
          processEvents: async (events) => {
            found.push(...events.map(({ body, sequenceNumber }) => `${sequenceNumber} ${body}`));
            if (found.length >= count) resolve();
          },
          processError: async (error) => reject(error),
        },
        { startPosition: { offset: '-1' }, maxWaitTimeInSeconds: 1, skipParsingBodyAsJson: true },
      );
    });
  } finally {
    await client.close();
  }
  return found.sort();
}

test('an official client reads other events, with numbers from the beginning, at another endpoint, and the first ones on the way back', async () => {
  await inject(hub, ['a', 'b'], { partition: 0 });
  const first = hub.endpoint().name;
  expect(await failOver()).toBe(0);
  expect(hub.endpoint().name).not.toBe(first);
  await inject(hub, ['c'], { partition: 0 });
  expect(await readAll(1)).toEqual(['0 c']);
  await failOver();
  expect(hub.endpoint().name).toBe(first);
  await inject(hub, ['d'], { partition: 0 });
  expect(await readAll(3)).toEqual(['0 a', '1 b', '2 d']);
});

test('the endpoint before is not there any more, and its connections end', async () => {
  const before = hub.eventHubConnectionString('events');
  const { connection } = await eventReceiver(hub);
  const closed = once(connection, 'connection_close');
  expect(await failOver()).toBe(1);
  await closed;
  expect(connection.error).toMatchObject({ condition: 'amqp:connection:forced' });
  await expect(readAll(1, before)).rejects.toMatchObject({ code: 'MessagingEntityNotFoundError' });
});

test('the endpoint before stays without new events, if the fault says so', async () => {
  const before = hub.eventHubConnectionString('events');
  await inject(hub, ['a'], { partition: 0 });
  await failOver('silent');
  await inject(hub, ['b'], { partition: 0 });
  expect(await readAll(1, before)).toEqual(['0 a']);
  expect(await readAll(1)).toEqual(['0 b']);
});

test('messages to devices are lost, and the hub takes new ones', async () => {
  expect(await outcomeOf(await serviceLink(hub), toDevice('pump-1', 'lost'))).toBe('accepted');
  expect(hub.devicebound.pending('pump-1')).toHaveLength(1);
  await failOver();
  expect(hub.devicebound.pending('pump-1')).toEqual([]);
  expect(hub.journal.list({ kind: 'c2d-settled' })).toMatchObject([{ deviceId: 'pump-1', outcome: 'lost' }]);
  expect(await outcomeOf(await serviceLink(hub), toDevice('pump-1', 'kept'))).toBe('accepted');
  expect(hub.devicebound.pending('pump-1')).toHaveLength(1);
});

test('a receiver under the hub’s own name is redirected to the endpoint of the moment', async () => {
  const addressOf = async () => {
    const { connection } = await serviceLink(hub);
    const receiver = connection.open_receiver('/messages/events/$management');
    expect(await ended(receiver)).toBe('amqp:link:redirect');
    return (receiver.error as { info?: { address?: string } } | undefined)?.info?.address;
  };
  const first = await addressOf();
  await failOver();
  expect(await addressOf()).toMatch(new RegExp(`/${hub.endpoint().name}/\\$management$`));
  await failOver();
  expect(await addressOf()).toBe(first);
});

describe('a hub that keeps its events', () => {
  const { start } = hubToRestart({ partitions: 1 });

  test('keeps those of both endpoints, and which is read', async () => {
    const before = await start();
    append(before, ['first']);
    await before.faults.strike({ kind: 'failover' });
    const { name, partitions } = before.endpoint();
    expect([name, partitions[0]?.next()]).toEqual(['sandbox-hub-secondary', 0]);

    const after = await start();
    expect(after.endpoint().name).toBe(name);
    await after.faults.strike({ kind: 'failover' });
    expect(after.endpoint().partitions[0]?.next()).toBe(1);
  });
});
