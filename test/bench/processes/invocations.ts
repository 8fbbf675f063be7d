import { Agent, request } from 'node:http';

/** Calls of the program that listens on a port of this machine. */
export interface Calls {
  readonly port: number;
  readonly calls: number;
  readonly inFlight: number;
}

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
export const invoke = (port: number, objectId: string): Promise<void> =>
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

/**
 * Invokes so many times, the n-th time on the object that `objectId` names.
 * @returns the milliseconds that it took
 */
export async function invokeAll({ port, calls, inFlight }: Calls, objectId: (nth: number) => string): Promise<number> {
  const began = performance.now();
  let next = 0;
  const caller = async () => {
    while (next < calls) {
      next += 1;
      await invoke(port, objectId(next));
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  return performance.now() - began;
}
