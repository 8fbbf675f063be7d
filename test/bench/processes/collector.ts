import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { answerParent } from './answerParent.ts';

/** A collector of OpenTelemetry that takes spans and counts them, by the path that they were sent to. */

/** Where it is. */
export type CollectorDescription = Readonly<{ port: number }>;

const spans: Record<string, number> = {};

const server = createServer(async (request, response) => {
  const { url = '' } = request;
  const taken = (await text(request)).split('"spanId":').length - 1; // links, which have one too, are not in what the bench sends
  spans[url] = (spans[url] ?? 0) + taken;
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

answerParent({ spans: (path: string): number => spans[path] ?? 0 });
const description: CollectorDescription = { port: (server.address() as AddressInfo).port };
process.send?.(description);
