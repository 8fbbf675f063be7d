import device from 'azure-iot-device';
import iothub from 'azure-iothub';

// A program of its own, started with NODE_EXTRA_CA_CERTS: the official service client exactly as an application uses it.
// argv: connection string, device id, body. Prints the name of the result or of the error.

const [connectionString = '', deviceId = '', body = ''] = process.argv.slice(2);
const client = iothub.Client.fromConnectionString(connectionString);
const send = async (): Promise<string> => {
  await client.open();
  const { result } = await client.send(deviceId, new device.Message(body) as never);
  await client.close();
  return result?.constructor.name ?? 'nothing';
};
process.stdout.write(await send().catch((error: Error) => error.constructor.name));
process.exit();
