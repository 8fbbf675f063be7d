import { readFileSync } from 'node:fs';
import device from 'azure-iot-device';
import mqtt from 'azure-iot-device-mqtt';
import { freshHub } from 'iot-hub-emulator/testing';
import { expect, onTestFinished, test } from 'vitest';

test('a device that was refused once sends again', async () => {
  const hub = await freshHub({ devices: [{ deviceId: 'pump-1' }] });
  onTestFinished(() => hub.stop());
  const client = device.Client.fromConnectionString(hub.deviceConnectionString('pump-1'), mqtt.Mqtt);
  await client.setOptions({ ca: readFileSync(hub.caFile, 'utf8') });

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
});
