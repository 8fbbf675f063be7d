import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import rhea from 'rhea';
import { expect, test } from 'vitest';
import { eventOverhead } from '../../src/events/partitionLog.ts';
import type { Hub } from '../../src/hub.ts';
import { append, eventReceiver, outcomeOf, serviceLink, toDevice } from '../support/bare.ts';
import { connectedDevice, subscribe } from '../support/device.ts';
import { hubToRestart } from '../support/sharedHub.ts';

const { directory, start } = hubToRestart({ partitions: 2 });
const send = async (to: Hub, deviceId: string, body: string) => {
  const link = await serviceLink(to);
  expect(await outcomeOf(link, toDevice(deviceId, body))).toBe('accepted');
  link.connection.close();
};

test('events keep their sequence numbers, offsets, times and bytes, and new ones follow them', async () => {
  const first = await start();
  append(first, ['a', 'b', 'c'], 1);
  const before = [0, 1, 2].map((sequenceNumber) => ({ ...first.partitions[1]?.at(sequenceNumber) }));
  const second = await start();
  expect([0, 1, 2].map((sequenceNumber) => second.partitions[1]?.at(sequenceNumber))).toEqual(before);
  append(second, ['d'], 1);
  expect(second.partitions[1]?.last()).toMatchObject({ sequenceNumber: 3 });
  const { bodies } = await eventReceiver(second, { partition: 1 });
  await expect.poll(() => bodies).toEqual(['a', 'b', 'c', 'd']);
});

test('retention holds across a restart, and removes dropped events from the file', async () => {
  const file = join(directory, 'data', 'partition-0.log');
  const texts = Array.from({ length: 100 }, (_, i) => `event ${i + 100}`);
  const bytes =
    rhea.message.encode({ body: rhea.message.data_section(Buffer.from('event 100')) }).length + eventOverhead;
  const rules = { bounds: { partition: 10 * bytes } };
  const first = await start({ rules });
  append(first, texts);
  expect((await stat(file)).size).toBeLessThan(21 * bytes);
  const second = await start({ rules });
  expect([second.partitions[0]?.first(), second.partitions[0]?.next()]).toEqual([90, 100]);
  append(second, ['event 200']);
  const third = await start({ rules });
  expect([third.partitions[0]?.first(), third.partitions[0]?.next()]).toEqual([91, 101]);
});

test('devices keep their keys and generation, and those that were deleted stay deleted', async () => {
  const first = await start({ devices: [{ deviceId: 'pump-1' }] });
  first.registry.create('pump-2');
  first.registry.create('gone');
  first.registry.delete('gone');
  const before = first.registry.list();
  const second = await start({ devices: [{ deviceId: 'pump-1' }] });
  expect(second.registry.list()).toEqual(before.map((device) => JSON.parse(JSON.stringify(device))));
  await connectedDevice(second, 'pump-2');
});

test('messages for devices wait in order with their delivery counts; completed ones are gone', async () => {
  const first = await start({ devices: [{ deviceId: 'pump-1' }] });
  for (const body of ['taken', 'delivered', 'waiting']) await send(first, 'pump-1', body);
  const device = await connectedDevice(first, 'pump-1');
  await subscribe(device, 'pump-1');
  const { messageId } = await device.next('publish');
  device.send({ cmd: 'puback', ...(messageId === undefined ? {} : { messageId }) });
  await expect.poll(() => first.devicebound.pending('pump-1').length).toBe(2);
  device.socket.destroy();

  const second = await start();
  const again = await connectedDevice(second, 'pump-1');
  await subscribe(again, 'pump-1');
  for (const payload of ['delivered', 'waiting'])
    expect(await again.next('publish')).toMatchObject({ payload: Buffer.from(payload), dup: true });
  const [entry] = second.journal.list({ kind: 'c2d-delivered' });
  expect(entry).toMatchObject({ deliveryCount: 1 });
});

test('messages that expired while the hub was down are not delivered', async () => {
  let time = Date.now();
  const now = () => time;
  await send(await start({ devices: [{ deviceId: 'pump-1' }], now }), 'pump-1', 'old');
  time += 2 * 3600 * 1000;
  const second = await start({ now });
  expect(second.devicebound.pending('pump-1')).toEqual([]);
});

test('a hub does not start with fewer partitions than it has stored', async () => {
  await start({ partitions: 3 });
  await expect(start({ partitions: 2 })).rejects.toThrow('3 partitions');
});
