import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startHub } from '../../../iot-hub-emulator/src/hub.ts';
import { createJournal } from '../../../iot-hub-emulator/src/journal/journal.ts';
import { answerParent } from './answerParent.ts';
import { type Calls, invoke, invokeAll } from './invocations.ts';

/**
 * What is around a program that invokes methods, in a process of its own: the sandbox hub with devices that answer,
 * backends that answer as fast as they can, and callers. argv: directory, devices.
 */

/** Where it is. */
export interface StageDescription {
  readonly caFile: string;
  readonly serviceConnectionString: string;
  readonly backendsPort: number;
}

const [directory = '', devices = '0'] = process.argv.slice(2);
const deviceId = (index: number) => `motor-${index % Number(devices)}`;
const objectId = (index: number) => `00000000-0000-4000-8000-${String(index % Number(devices)).padStart(12, '0')}`;

const hub = await startHub({
  directory,
  journal: createJournal({ bytes: 65_536 }),
  devices: Array.from({ length: Number(devices) }, (_, index) => ({ deviceId: deviceId(index) })),
});
let isHolding = false;
const held: (() => void)[] = [];
let allHeld = () => {};
let wanted = 0;
for (let index = 0; index < Number(devices); index += 1) {
  const id = deviceId(index);
  hub.methods.listen(id, ({ requestId }) => {
    const answer = () => hub.methods.answer(id, requestId, 200, '{"status":0,"output":{"rpm":1450}}');
    if (!isHolding) return setImmediate(answer);
    held.push(answer);
    if (held.length === wanted) allHeld();
  });
}

const type = JSON.stringify({
  typeId: 'motor',
  version: '1.0.0',
  methods: { configure: { input: { rpm: { dataType: 'integer' }, reverse: { dataType: 'boolean' } } } },
});
const backends = createServer(({ url = '' }, response) => {
  const [, id] = /^\/im\/objects\/([^/]+)/.exec(url) ?? [];
  const object = { objectId: id, model: 'svc.device', type: 'motor@1.0.0', path: deviceId(Number(id?.slice(-12))) };
  const text = id === undefined ? type : JSON.stringify(object);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
});
backends.keepAliveTimeout = 600_000;
await new Promise<void>((resolve) => backends.listen(0, '127.0.0.1', resolve));

let holding: Promise<unknown> = Promise.resolve();

answerParent({
  /** Resolves with the milliseconds that it took. */
  run: (calls: Calls): Promise<number> => invokeAll(calls, objectId),
  /** Resolves when the devices have all of the calls, which they do not answer. */
  async hold({ port, calls }: Pick<Calls, 'port' | 'calls'>): Promise<void> {
    isHolding = true;
    wanted = calls;
    const all = new Promise<void>((resolve) => {
      allHeld = resolve;
    });
    holding = Promise.all(Array.from({ length: calls }, (_, index) => invoke(port, objectId(index))));
    await Promise.race([all, holding]);
  },
  async release(): Promise<void> {
    isHolding = false;
    for (const answer of held.splice(0)) answer();
    await holding;
  },
});
const description: StageDescription = {
  caFile: hub.caFile,
  serviceConnectionString: hub.serviceConnectionString,
  backendsPort: (backends.address() as AddressInfo).port,
};
process.send?.(description);
