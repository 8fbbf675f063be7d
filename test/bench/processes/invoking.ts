import { Agent, createServer, request } from 'node:http';
import { listening } from '../../../iot-hub-emulator/test/support/listening.ts';
import { answerParent } from './answerParent.ts';

type Calls = Readonly<{ port: number; calls: number; inFlight: number }>;

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

/** Lets the parent make calls, the n-th one on the object that `objectId` names. */
export const answerCalls = (objectId: (nth: number) => string): void =>
  answerParent({ run: (calls: Calls) => invokeAll(calls, objectId) });

async function invokeAll({ port, calls, inFlight }: Calls, objectId: (nth: number) => string): Promise<number> {
  const began = performance.now();
  let next = 0;
  const caller = async () => {
    while (next < calls) await invoke(port, objectId(++next));
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  return performance.now() - began;
}

const type = JSON.stringify({
  typeId: 'motor',
  version: '1.0.0',
  methods: { configure: { input: { rpm: { dataType: 'integer' }, reverse: { dataType: 'boolean' } } } },
});

/**
 * Backends that answer as fast as they can: each object is a motor at the path that `pathOf` gives.
 * @returns their port
 */
export async function startFastBackends(pathOf: (objectId: string) => string): Promise<number> {
  const backends = createServer(({ url = '' }, response) => {
    const [, objectId] = /^\/im\/objects\/([^/]+)/.exec(url) ?? [];
    const object = () => ({ objectId, model: 'svc.device', type: 'motor@1.0.0', path: pathOf(objectId ?? '') });
    const text = objectId === undefined ? type : JSON.stringify(object());
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
      .end(text);
  });
  backends.keepAliveTimeout = 600_000;
  return (await listening(backends)).port;
}
