import { describe, expect, test } from 'vitest';
import { parseJson } from '../src/values/json.ts';
import { bareConnection, outcomeOf, putDeviceToken } from './support/bare.ts';
import { connectedDevice, publishPacket } from './support/device.ts';
import { listenInTest } from './support/eventClients.ts';
import { section } from './support/rawAmqp.ts';
import { binary, map, text } from './support/rawClient.ts';
import { hubForEach, hubForTest } from './support/sharedHub.ts';

const hub = hubForEach({
  partitions: 1,
  devices: [{ deviceId: 'pump-1' }],
  enrichments: [
    { key: 'owner', value: 'operator' },
    { key: 'hub', value: '$iothubname' },
    { key: 'hall', value: '$twin.tags.place.hall' },
    { key: 'limits', value: '$twin.properties.desired.limits' },
    { key: 'gone', value: '$twin.properties.reported.nothing' },
  ],
});
const added = {
  ...{ owner: 'operator', hub: 'sandbox-hub', hall: 'H8', limits: '{"low":1.0}' },
  gone: '$twin.properties.reported.nothing',
};
const enrichedBy = async () => {
  const [event] = await listenInTest(hub, { startPosition: { offset: '-1' }, partition: '0' }).has(1);
  return event?.properties;
};
const fillTwin = () =>
  hub.twins.change('pump-1', {
    tags: { place: { hall: 'H8' } },
    properties: parseJson('{"desired":{"limits":{"low":1.0}}}'),
  });

describe('enrichments are properties of each message', () => {
  test('that comes over MQTT, in the place of those that the device gave it', async () => {
    fillTwin();
    const device = await connectedDevice(hub, 'pump-1');
    device.send(publishPacket('devices/pump-1/messages/events/a=b&owner=me', 'x'));
    await device.next('puback');
    expect(await enrichedBy()).toEqual({ a: 'b', ...added });
  });
  test('that comes over AMQP, beside properties that keep their bytes', async () => {
    const connection = await bareConnection(hub);
    await putDeviceToken(hub, connection, 'pump-1');
    const sender = connection.open_sender('/devices/pump-1/messages/events');
    const float = Buffer.from('723dcccccd', 'hex');
    const given = section('applicationProperties', map(text('own'), float, text('owner'), text('me')));
    await outcomeOf(sender, Buffer.concat([given, section('data', binary('x'))]), 0);
    const bytes = hub.partitions[0]?.last()?.bytes ?? Buffer.alloc(0);
    expect(bytes.includes(Buffer.concat([text('own'), float]))).toBe(true);
    expect(await enrichedBy()).toMatchObject({
      owner: 'operator',
      hall: '$twin.tags.place.hall',
      own: expect.closeTo(0.1),
    });
  });
});

test.each([
  [Array.from({ length: 11 }, (_, i) => ({ key: String(i), value: 'x' }))],
  [[{ key: 'a', value: '$twin.etag' }]],
  [[{ key: '', value: 'x' }]],
])('a hub refuses to start with %j', async (enrichments) =>
  expect(hubForTest({ enrichments })).rejects.toThrow('The hub cannot start so: enrichments'),
);
