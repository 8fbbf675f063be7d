import { expect, test } from 'vitest';
import { eventProducer, listenInTest } from './support/eventClients.ts';
import { hubForAll, hubForTest } from './support/sharedHub.ts';

// The official producer of events, which no policy of an IoT hub lets send.

const hub = hubForAll({ ownerMaySend: true });

test('no client may send to the event endpoint, not even the owner', async () => {
  const strict = await hubForTest();
  await expect(eventProducer(strict).sendBatch([{ body: 1 }])).rejects.toMatchObject({
    code: 'UnauthorizedError',
    message: expect.stringContaining(
      "Unauthorized access. 'Send' claim(s) are required to perform this operation. Resource: 'sb://sandbox-hub.servicebus.windows.net/sandbox-hub'.",
    ),
  });
  expect(strict.counters().appended).toBe(0);
});

test('only the owner may send where the hub allows it', async () => {
  await eventProducer(hub).sendBatch([{ body: 1 }], { partitionId: '3' });
  const sending = eventProducer(hub, 'service').sendBatch([{ body: 1 }]);
  await expect(sending).rejects.toMatchObject({ code: 'UnauthorizedError' });
});

test('a batch is appended to its partition event by event, without identity stamps', async () => {
  const sender = eventProducer(hub);
  const batch = await sender.createBatch({ partitionId: '1' });
  batch.tryAdd({ body: { n: 1 }, properties: { kind: 'made' } });
  const messageAnnotations = { 'iothub-connection-device-id': 'pump-1' };
  batch.tryAdd({ body: { n: 2 }, bodyType: 'data', messageAnnotations } as never);
  await sender.sendBatch(batch);
  const listening = listenInTest(hub, { startPosition: { offset: '-1' }, partition: '1' });
  const [first, second] = await listening.has(2);
  expect(listening.events.map(({ body }) => body.toString())).toEqual(['{"n":1}', '{"n":2}']);
  expect(first?.properties).toEqual({ kind: 'made' });
  expect(second?.systemProperties?.['iothub-connection-device-id']).toBeUndefined();
});
