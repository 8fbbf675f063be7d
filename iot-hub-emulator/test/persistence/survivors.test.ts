import { EventHubConsumerClient } from '@azure/event-hubs';
import type device from 'azure-iot-device';
import amqp from 'azure-iot-device-amqp';
import type iothub from 'azure-iothub';
import { expect, test } from 'vitest';
import type { Hub } from '../../src/hub.ts';
import { called, deviceClient, registryClient, serviceClient, serviceMessage } from '../support/clients.ts';
import { hubToRestart } from '../support/sharedHub.ts';

// What the official clients find again after a restart, besides events and messages.

const { start } = hubToRestart({ devices: [{ deviceId: 'pump' }] });

test('the creation time of the hub is that of its first start', async () => {
  const created = async (at: Hub) => {
    const client = new EventHubConsumerClient('$Default', at.eventsConnectionString);
    const { createdOn } = await client.getEventHubProperties();
    await client.close();
    return createdOn.toISOString();
  };
  const before = await created(await start({ now: () => Date.UTC(2026, 0, 1) }));
  expect(before).toBe('2026-01-01T00:00:00.000Z');
  expect(await created(await start())).toBe(before);
});

test('twins survive a restart, also those of modules and unchanged ones', async () => {
  const first = await start();
  first.registry.create('pump', { moduleId: 'm1' });
  first.registry.create('idle');
  first.registry.create('gone');
  const owner = registryClient(first, 'iothubowner');
  await owner.updateTwin('pump', { tags: { hall: 1 }, properties: { desired: { limits: { rpm: [1, 9] } } } }, '*');
  await owner.updateModuleTwin('pump', 'm1', { tags: { of: 'the module' } }, '*');
  await owner.updateTwin('gone', { tags: { old: true } }, '*');
  const client = await deviceClient(first, 'pump');
  await client.open();
  const twin = await client.getTwin();
  await called((done) => twin.properties.reported.update({ rpm: 5 }, done));
  await client.close();
  const twins = async (at: Hub) => {
    const registry = registryClient(at, 'iothubowner');
    const pump = [await registry.getTwin('pump'), await registry.getModuleTwin('pump', 'm1')];
    const found = [...pump, await registry.getTwin('idle')];
    return found.map(({ responseBody: { etag, tags, properties } }) =>
      JSON.parse(JSON.stringify({ etag, tags, properties })),
    );
  };
  const before = await twins(first);
  first.registry.delete('gone');
  const second = await start();
  expect(await twins(second)).toEqual(before);
  expect(before[0]).toMatchObject({ tags: { hall: 1 }, properties: { reported: { rpm: 5, $version: 2 } } });
  second.registry.create('gone');
  expect(second.twins.get('gone').tags).toEqual({});
  second.twins.report('pump', { rpm: 6 });
  expect((await start()).twins.get('pump').reported).toMatchObject({ rpm: 6, $version: 3 });
});

test('feedback that no service has fetched survives a restart, once; fetched feedback does not', async () => {
  const first = await start({ rules: { feedback: { batch: 2, everyMs: 3_600_000 } } });
  const service = serviceClient(first);
  await service.open();
  const client = await deviceClient(first, 'pump', undefined, amqp.Amqp);
  client.on('message', (message) => void client.complete(message));
  await client.open();
  const send = (messageId: string) =>
    service.send('pump', Object.assign(serviceMessage('x', { messageId }), { ack: 'full' }));
  await send('1'); // the first leaves at once
  expect(await fetched(first, 1)).toEqual(['1']);
  for (const id of ['2', '3', '4']) await send(id); // two together, the last waits for another
  await expect.poll(() => first.journal.list({ kind: 'c2d-settled' }).length).toBe(4);
  await client.close();
  await service.close();

  const second = await start({ rules: { feedback: { batch: 2, everyMs: 10 } } });
  expect(await fetched(second, 3)).toEqual(['2', '3', '4']);
});

/** Complete feedback until so many messages were told of. */
async function fetched(from: Hub, count: number): Promise<string[]> {
  const service = serviceClient(from);
  await service.open();
  const { result: receiver } = (await service.getFeedbackReceiver()) as unknown as {
    result: iothub.Client.ServiceReceiver;
  };
  const ids: string[] = [];
  await new Promise<void>((resolve) => {
    receiver.on('message', (message: device.Message) => {
      const records: { originalMessageId: string }[] = JSON.parse(message.getData().toString());
      ids.push(...records.map(({ originalMessageId }) => originalMessageId));
      receiver.complete(message as never, () => ids.length >= count && resolve());
    });
  });
  await service.close();
  return ids;
}
