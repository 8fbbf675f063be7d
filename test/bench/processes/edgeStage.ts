import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import mqtt from 'mqtt';
import { startBroker } from '../../../sandbox/edge/broker.ts';
import { startHub } from '../../../sandbox/hub/hub.ts';
import { answerParent } from './answerParent.ts';

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

interface Calls {
  readonly port: number;
  readonly calls: number;
  readonly inFlight: number;
}

const objectId = '00000000-0000-4000-8000-000000000001';
const [directory = ''] = process.argv.slice(2);
const hub = await startHub({ directory, journalEntries: 100, devices: [{ deviceId: 'edge-1' }] });
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

const agent = new Agent({ keepAlive: true });
const body = '{"input":{"rpm":1450,"reverse":false},"timeout":120}';
const path = `/objects/${objectId}/models/svc.device/methods/configure`;
const headers = {
  authorization: 'Bearer bench',
  'content-type': 'application/json',
  'content-length': Buffer.byteLength(body),
};

/** @throws Error when it is not answered as the module has answered */
const call = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const outgoing = request({ agent, host: '127.0.0.1', port, path, method: 'POST', headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('end', () => {
        if (text === '{"status":0,"output":{"rpm":1450}}') resolve();
        else reject(new Error(`${answer.statusCode}: ${text.slice(0, 300)}`));
      });
    });
    outgoing.on('error', reject).end(body);
  });

let holding: Promise<unknown> = Promise.resolve();

answerParent({
  /** Resolves with the milliseconds that it took. */
  async run({ port, calls, inFlight }: Calls): Promise<number> {
    const began = performance.now();
    let next = 0;
    const caller = async () => {
      while (next < calls) {
        next += 1;
        await call(port);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, caller));
    return performance.now() - began;
  },
  /** Resolves when the module has all of the calls, which it does not answer. */
  async hold({ port, calls }: Pick<Calls, 'port' | 'calls'>): Promise<void> {
    isHolding = true;
    wanted = calls;
    const all = new Promise<void>((resolve) => {
      allHeld = resolve;
    });
    holding = Promise.all(Array.from({ length: calls }, () => call(port)));
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
