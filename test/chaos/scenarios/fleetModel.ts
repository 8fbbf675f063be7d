import { createServer } from 'node:http';
import { listening } from '../../../iot-hub-emulator/test/support/listening.ts';
import { createRandom } from '../random.ts';

/**
 * An information model for scenarios, in a process of its own, which answers as fast as it can: a small model for each object
 * whose second group of digits is 0, and so many children of it with so many bytes, each with one character beyond Latin-1 or none. Updates
 * are answered with the next version. argv: children, bytes, seed.
 */

const [children = 0, bytes = 0, seed = 0] = process.argv.slice(2).map(Number);
const random = createRandom(seed);

const modelOf = (objectId: string, version = 1): string =>
  `{"objectId":"${objectId}","model":"svc.device","type":"pump@1.0.0","version":${version},"properties":{}}`;

const fillers = ['x', '€'].map((character) =>
  Buffer.from(`"properties":{"note":"${character}${'x'.repeat(Math.max(0, bytes - 200))}"}}`),
);
const childOf = (objectId: string): Buffer =>
  Buffer.concat([Buffer.from(modelOf(objectId).replace(/"properties".*/, '')), random.pick(fillers)]);

function referencesOf(objectId: string): string {
  const child = (nth: number) => objectId.replace(/-0000-/, `-${nth.toString(16).padStart(4, '0')}-`);
  const data = Array.from({ length: objectId.includes('-0000-') ? children : 0 }, (_, index) => ({
    name: 'parts',
    to: { objectId: child(index + 1), model: 'svc.device' },
  }));
  return JSON.stringify({ data });
}

function answer(method: string, path: string, body: string): string | Buffer | undefined {
  const [, objectId = '', rest] = /^\/objects\/([0-9a-f-]{36})\/models\/svc\.device(.*)$/.exec(path) ?? [];
  if (/^[0-]*$/.test(objectId)) return undefined; // the probe's target
  if (method === 'PUT') return modelOf(objectId, Number(/"version":(\d+)/.exec(body)?.[1]) + 1);
  if (rest !== '') return referencesOf(objectId);
  return objectId.includes('-0000-') ? modelOf(objectId) : childOf(objectId);
}

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const found = answer(request.method ?? '', request.url ?? '', Buffer.concat(chunks).toString());
  response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
  response.end(found ?? '{"errors":[]}');
});
server.keepAliveTimeout = 600_000;
process.on('disconnect', () => process.exit());
const { port } = await listening(server);
process.send?.({ port });
