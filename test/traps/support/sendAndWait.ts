import device from 'azure-iot-device';
import iothub from 'azure-iothub';

// A program of its own, started with NODE_EXTRA_CA_CERTS: the service client as an application uses it. It opens, sends one
// message to get its link, then another one, and says what became of that. argv: connection string, device id.

const [connectionString = '', deviceId = ''] = process.argv.slice(2);
const client = iothub.Client.fromConnectionString(connectionString);
const send = (body: string) => client.send(deviceId, new device.Message(body) as never);
await client.open();
await send('first');
process.stdout.write('sent\n');
const outcome = await send('second').then(
  ({ result }) => (result ? 'accepted' : 'nothing'),
  (error: Error) => error.constructor.name,
);
process.stdout.write(`${outcome}\n`);
process.exit(0);
