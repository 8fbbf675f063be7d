// A device in JavaScript with the official client: connects, sends, receives, answers methods, reads and reports its twin.
// Needs: npm install azure-iot-device azure-iot-device-mqtt
// Run: node device.mjs
import device from 'azure-iot-device';
import mqtt from 'azure-iot-device-mqtt';

const client = device.Client.fromConnectionString(process.env.DEVICE_CONNECTION_STRING, mqtt.Mqtt);
await client.open();

client.on('message', (message) => {
  console.log('received', message.getData().toString());
  client.complete(message);
});
client.onDeviceMethod('stop', (request, response) => {
  console.log('called', request.methodName, request.payload);
  response.send(200, { done: true });
});

const twin = await client.getTwin();
console.log('desired', JSON.stringify(twin.properties.desired));
twin.on('properties.desired', (delta) => console.log('desired', JSON.stringify(delta)));
twin.properties.reported.update({ version: 1 }, (error) => console.log('reported', error ?? 'version'));

const message = new device.Message('21.5');
message.properties.add('hall', '8');
await client.sendEvent(message);
console.log('sent');
