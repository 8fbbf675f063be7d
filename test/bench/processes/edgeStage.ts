import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import mqtt from 'mqtt';
import { startHub } from '../../../iot-hub-emulator/src/hub.ts';
import { createJournal } from '../../../iot-hub-emulator/src/journal/journal.ts';
import { startBroker } from '../../../sandbox/edge/broker.ts';
import { answerParent } from './answerParent.ts';
import { type Calls, invoke, invokeAll } from './invocations.ts';

/**
 * What is around a front door and an edge proxy, in a process of its own: hub, backends that answer as fast as they can,
 * broker, a module that answers, and callers. argv: directory.
 */

/** Where it is. */
export interface EdgeStageDescription {
  readonly caFile: string;
  readonly serviceConnectionString: string;
  readonly deviceConnectionString: string;
  readonly backendsPort: number;
  readonly brokerUrl: string;
}

const objectId = '00000000-0000-4000-8000-000000000001';
const [directory = ''] = process.argv.slice(2);
const hub = await startHub({ directory, journal: createJournal({ bytes: 65_536 }), devices: [{ deviceId: 'edge-1' }] });
const broker = await startBroker({
  users: {
    proxy: { password: 'bench', publish: ['press/in/#'], subscribe: ['press/out/#'] },
    press: { password: 'bench', publish: ['press/out/#'], subscribe: ['press/in/#'] },
  },
});

let isHolding = false;
const held: (() => void)[] = [];
let [wanted, allHeld] = [0, () => {}];
const module = await mqtt.connectAsync(broker.url, { username: 'press', password: 'bench' });
module.on('message', (topic) => {
  const answer = () => void module.publish(`press/out/0/${topic.split('/').at(-1)}`, '{"rpm":1450}');
  if (!isHolding) return answer();
  held.push(answer);
  if (held.length === wanted) allHeld();
});
await module.subscribeAsync('press/in/#');

const type = JSON.stringify({
  typeId: 'motor',
  version: '1.0.0',
  methods: { configure: { input: { rpm: { dataType: 'integer' }, reverse: { dataType: 'boolean' } } } },
});
const object = JSON.stringify({ objectId, model: 'svc.device', type: 'motor@1.0.0', path: 'edge-1/press' });
const backends = createServer(({ url = '' }, response) => {
  const text = url.startsWith('/im/objects/') ? object : type;
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
});
backends.keepAliveTimeout = 600_000;
await new Promise<void>((resolve) => backends.listen(0, '127.0.0.1', resolve));

let holding: Promise<unknown> = Promise.resolve();

answerParent({
  /** Resolves with the milliseconds that it took. */
  run: (calls: Calls): Promise<number> => invokeAll(calls, () => objectId),
  /** Resolves when the module has all of the calls, which it does not answer. */
  async hold({ port, calls }: Pick<Calls, 'port' | 'calls'>): Promise<void> {
    isHolding = true;
    wanted = calls;
    const all = new Promise<void>((resolve) => {
      allHeld = resolve;
    });
    holding = Promise.all(Array.from({ length: calls }, () => invoke(port, objectId)));
    await Promise.race([all, holding]);
  },
  async release(): Promise<void> {
    isHolding = false;
    for (const answer of held.splice(0)) answer();
    await holding;
  },
});
const description: EdgeStageDescription = {
  caFile: hub.caFile,
  serviceConnectionString: hub.serviceConnectionString,
  deviceConnectionString: hub.deviceConnectionString('edge-1'),
  backendsPort: (backends.address() as AddressInfo).port,
  brokerUrl: broker.url,
};
process.send?.(description);
