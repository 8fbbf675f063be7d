import { Agent } from 'node:https';
import iothub from 'azure-iothub';
import { fastify } from 'fastify';

/** The least that a front door can be: a handler that calls `invokeDeviceMethod`. It asks and checks nothing. */

const { serviceConnectionString = '' } = JSON.parse(process.env['BENCH'] ?? '{}');
const client = iothub.Client.fromConnectionString(serviceConnectionString);
const [, port] = /HostName=[^;:]+:(\d+)/.exec(serviceConnectionString) ?? [];
const rest: { setOptions(options: object): void } = Reflect.get(client, '_restApiClient');
rest.setOptions({ http: { agent: new Agent({ host: 'localhost', port: Number(port), keepAlive: true }) } });

type Invoking = { Params: { objectId: string }; Body: { timeout: number } };

const server = fastify();
server.post<Invoking>('/objects/:objectId/models/:model/methods/:method', async ({ params, body }) => {
  const device = `motor-${Number(params.objectId.slice(-12))}`;
  const parameters = { methodName: 'invokeMethod', payload: body, responseTimeoutInSeconds: body.timeout };
  const answer = (await client.invokeDeviceMethod(device, parameters)) as { result: { payload: unknown } };
  return answer.result.payload;
});
server.get('/ready', async () => ({}));
await server.listen({ host: '127.0.0.1', port: Number(process.env['METHODS_PORT']) });
