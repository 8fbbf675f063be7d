import device from 'azure-iot-device';
import mqtt from 'azure-iot-device-mqtt';
import { startHub } from 'iot-hub-emulator';
import { trustHub } from 'iot-hub-emulator/clients';
import { expect, test } from 'vitest';

test('a device that was refused once sends again', async () => {
  await using hub = await startHub({ devices: [{ deviceId: 'pump-1' }] });
  using _ = trustHub(hub);
  const client = device.Client.fromConnectionString(hub.deviceConnectionString('pump-1'), mqtt.Mqtt);

  hub.faults.add({ kind: 'refuse-token', answer: 'refuse', deviceId: 'pump-1', times: 1 });
  await expect(client.open()).rejects.toThrow('Not authorized');

  await client.open();
  await client.sendEvent(new device.Message('21.5'));
  expect(hub.journal.list({ deviceId: 'pump-1' })).toMatchObject([
    { kind: 'refused' },
    { kind: 'connected', protocol: 'mqtt' },
    { kind: 'd2c', body: Buffer.from('21.5') },
  ]);
  await client.close();
}, 20_000);
