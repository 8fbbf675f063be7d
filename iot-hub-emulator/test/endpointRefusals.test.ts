import { EventHubConsumerClient } from '@azure/event-hubs';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { inject } from '../src/testing/inject.ts';
import { eventConsumer, eventProducer, listenInTest, nextReceiver } from './support/eventClients.ts';
import { hubForAll, hubForTest } from './support/sharedHub.ts';

// What the official event client is told when the event endpoint refuses it.

const earliest = { offset: '-1' };
const signed = / TrackingId:[0-9a-f]{32}_G\d+, SystemTracker:gateway\d+, Timestamp:[-0-9T:]{19}$/;

const hub = hubForAll({ partitions: 2, consumerGroups: ['shared'], ownerMaySend: true });
beforeAll(async () => {
  await inject(hub, ['e0', 'e1', 'e2']);
});

const listen = (options: Partial<Parameters<typeof listenInTest>[1]> = {}) =>
  listenInTest(hub, { partition: '0', startPosition: earliest, ...options });
/** Code and text of the refusal, without the part that differs each time. */
async function refusal(listening: ReturnType<typeof listen>) {
  const { code, message } = await listening.failed();
  expect(message).toMatch(signed);
  return { code, text: message.replace(signed, '') };
}
const lastOffset = () => hub.partitions[0]?.last()?.offset ?? 0;

describe('a start position', () => {
  test('beyond the last offset is refused with the last offset', async () =>
    expect(await refusal(listen({ startPosition: { offset: '999999' } }))).toEqual({
      code: 'ArgumentError',
      text: `The supplied offset '999999' is invalid. The last offset in the system is '${lastOffset()}'`,
    }));
  test('beyond the last sequence number is refused with the last one', async () => {
    for (const isInclusive of [true, false])
      expect(await refusal(listen({ startPosition: { sequenceNumber: 3, isInclusive } }))).toEqual({
        code: 'ArgumentError',
        text: "The supplied sequence number '3' is invalid. The last sequence number in the system is '2'",
      });
  });
  test('in an empty partition is refused', async () =>
    expect(await refusal(listen({ partition: '1', startPosition: { offset: '7' } }))).toEqual({
      code: 'ArgumentError',
      text: "The supplied offset '7' is invalid. The last offset in the system is '-1'",
    }));
  test('at the last event is accepted', async () => {
    const listening = listen({ startPosition: { offset: String(lastOffset()) } });
    await expect.poll(() => hub.counters().receivers.length).toBe(1);
    await inject(hub, ['e3']);
    expect((await listening.has(1)).map(({ body }) => body.toString())).toEqual(['e3']);
  });
});

describe('an unknown partition', () => {
  const text =
    'The specified partition is invalid for an EventHub partition sender or receiver. It should be between 0 and 1.\nParameter name: PartitionId';

  test('is refused to a receiver', async () =>
    expect(await refusal(listen({ partition: '2' }))).toEqual({ code: 'ArgumentOutOfRangeError', text }));
  test('is refused to a producer, and to a request for its properties', async () => {
    const refused = { code: 'ArgumentOutOfRangeError', message: expect.stringContaining(text) };
    await expect(eventProducer(hub).sendBatch([{ body: 'x' }], { partitionId: '2' })).rejects.toMatchObject(refused);
    await expect(eventConsumer(hub).getPartitionProperties('2')).rejects.toMatchObject(refused);
  });
});

describe('a receiver', () => {
  // what the client calls its receivers
  const id = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
  const enter = (ownerLevel?: number, group = '$Default') => {
    const client = new EventHubConsumerClient(group, hub.eventsConnectionString);
    const opened = nextReceiver(hub);
    let fail: (error: Error & { code?: string }) => void = () => {};
    const failed = new Promise<Error & { code?: string }>((resolve) => {
      fail = resolve;
    });
    client.subscribe(
      '0',
      { processEvents: async () => {}, processError: async (error) => fail(error) },
      { startPosition: earliest, ...(ownerLevel === undefined ? {} : { ownerLevel }) },
    );
    onTestFinished(() => client.close());
    return { opened, failed };
  };
  const told = async ({ failed }: ReturnType<typeof enter>) => {
    const { code, message } = await failed;
    return { code, text: message.replace(signed, '').replaceAll(id, 'ID') };
  };

  test('with a lower owner level gets an error that names the higher one', async () => {
    await enter(2).opened;
    expect(await told(enter(1))).toEqual({
      code: 'ReceiverDisconnectedError',
      text: "Receiver 'ID' with a higher epoch '2' already exists. Receiver 'ID' with epoch 1 cannot be created. Make sure you are creating receiver with increasing epoch value to ensure connectivity, or ensure all old epoch receivers are closed or disconnected.",
    });
  });
  test('without an owner level gets an error that names the existing one', async () => {
    await enter(22).opened;
    expect(await told(enter())).toEqual({
      code: 'ReceiverDisconnectedError',
      text: "At least one receiver for the endpoint is created with epoch of '22', and so non-epoch receiver is not allowed. Either reconnect with a higher epoch, or make sure all epoch receivers are closed or disconnected.",
    });
  });
  test('that is replaced gets an error that names the new owner', async () => {
    const first = enter(4);
    await first.opened;
    await enter(5).opened;
    expect(await told(first)).toEqual({
      code: 'ReceiverDisconnectedError',
      text: "New receiver 'ID' with higher epoch of '5' is created hence current receiver 'ID' with epoch '4' is getting disconnected. If you are recreating the receiver, make sure a higher epoch is used.",
    });
  });
  test('that is the sixth of its group gets an error that names the others', async () => {
    for (let count = 0; count < 5; count++) await enter(undefined, 'shared').opened;
    expect(await told(enter(undefined, 'shared'))).toEqual({
      code: 'QuotaExceededError',
      text: 'Exceeded the maximum number of allowed receivers per partition in a consumer group which is 5. List of connected receivers - ID, ID, ID, ID, ID.',
    });
  });
});

test('a key that is renewed is refused at the next management request, while open links still get events', async () => {
  const renewed = await hubForTest({ partitions: 1 });
  const listening = listenInTest(renewed, { partition: '0', startPosition: earliest });
  const client = eventConsumer(renewed);
  expect(await client.getPartitionIds()).toEqual(['0']);
  await inject(renewed, ['before']);
  await listening.has(1);
  await renewed.renewKey('events');
  await expect(client.getPartitionIds()).rejects.toMatchObject({ code: 'UnauthorizedError' });
  await inject(renewed, ['after']);
  await listening.has(2);
  expect(listening.errors).toEqual([]);
});
