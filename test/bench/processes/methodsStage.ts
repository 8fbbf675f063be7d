import { Agent, createServer, request } from 'node:http';
import { startHub } from 'iot-hub-emulator';
import { createJournal } from 'iot-hub-emulator/journal';
import mqtt from 'mqtt';
import { listening } from '../../../iot-hub-emulator/test/support/listening.ts';
import { startBroker } from '../../../sandbox/edge/broker.ts';
import { answerParent } from './answerParent.ts';

/**
 * What is around a program that invokes methods, and around an edge proxy, in a process of its own: the sandbox hub with devices
 * that answer, backends that answer as fast as they can, a broker with a module that answers, and callers. argv: directory, devices.
 */

const [directory = '', devices = '0'] = process.argv.slice(2);
const deviceId = (index: number) => `motor-${index % Number(devices)}`;
const objectId = (index: number) => `00000000-0000-4000-8000-${String(index % Number(devices)).padStart(12, '0')}`;
const ofModule = '00000000-0000-4000-8000-ed6e00000000';
const edgeDevice = 'edge-1';
const answer = { status: 0, output: { rpm: 1450 } };

const hub = await startHub({
  directory,
  journal: createJournal({ bytes: 65_536 }),
  devices: [
    { deviceId: edgeDevice },
    ...Array.from({ length: Number(devices) }, (_, index) => ({ deviceId: deviceId(index) })),
  ],
});
for (let index = 0; index < Number(devices); index += 1) {
  const id = deviceId(index);
  hub.methods.listen(id, ({ requestId }) => {
    setImmediate(() => hub.methods.answer(id, requestId, 200, JSON.stringify(answer)));
  });
}

const broker = await startBroker({
  users: {
    proxy: { password: 'bench', publish: ['press/in/#'], subscribe: ['press/out/#'] },
    press: { password: 'bench', publish: ['press/out/#'], subscribe: ['press/in/#'] },
  },
});
const module = await mqtt.connectAsync(broker.url, { username: 'press', password: 'bench' });
module.on(
  'message',
  (topic) => void module.publish(`press/out/0/${topic.split('/').at(-1)}`, JSON.stringify(answer.output)),
);
await module.subscribeAsync('press/in/#');

const agent = new Agent({ keepAlive: true });
const body = '{"input":{"rpm":1450,"reverse":false},"timeout":120}';
const headers = {
  authorization: 'Bearer bench',
  'content-type': 'application/json',
  'content-length': Buffer.byteLength(body),
};

/**
 * Invokes the method `configure` of an object.
 * @throws Error when the answer is not that of the device or module
 */
const invoke = (port: number, objectId: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const path = `/objects/${objectId}/models/svc.device/methods/configure`;
    const outgoing = request({ agent, host: '127.0.0.1', port, path, method: 'POST', headers }, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      incoming.on('end', () => {
        if (text === JSON.stringify(answer)) resolve();
        else reject(new Error(`${incoming.statusCode}: ${text.slice(0, 300)}`));
      });
    });
    outgoing.on('error', reject).end(body);
  });

/** How many calls, and of which methods: those of devices in turn, or all of the module. */
export type Calls = Readonly<{ port: number; calls: number; inFlight: number; isOfModule: boolean }>;

async function run({ port, calls, inFlight, isOfModule }: Calls): Promise<number> {
  const began = performance.now();
  let next = 0;
  const caller = async () => {
    while (next < calls) {
      next += 1;
      await invoke(port, isOfModule ? ofModule : objectId(next));
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  return performance.now() - began;
}

const type = JSON.stringify({
  typeId: 'motor',
  version: '1.0.0',
  methods: { configure: { input: { rpm: { dataType: 'integer' }, reverse: { dataType: 'boolean' } } } },
});

/** The path of an object is that of its device or module. */
const pathOf = (id: string) => (id === ofModule ? `${edgeDevice}/press` : deviceId(Number(id.slice(-12))));

const backends = createServer(({ url = '' }, response) => {
  const [, id] = /^\/im\/objects\/([^/]+)/.exec(url) ?? [];
  const object = { objectId: id, model: 'svc.device', type: 'motor@1.0.0', path: id && pathOf(id) };
  const text = id === undefined ? type : JSON.stringify(object);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
});
backends.keepAliveTimeout = 600_000;

answerParent({ run });
const description = {
  ...{ caFile: hub.caFile, serviceConnectionString: hub.serviceConnectionString, brokerUrl: broker.url },
  ...{ deviceConnectionString: hub.deviceConnectionString(edgeDevice), ofModule },
  backendsPort: (await listening(backends)).port,
};
process.send?.(description);

export type StageDescription = typeof description;
