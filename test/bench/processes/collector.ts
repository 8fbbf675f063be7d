import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listening } from '../../../iot-hub-emulator/test/support/listening.ts';
import { answerParent } from './answerParent.ts';

/** A collector of OpenTelemetry that takes spans and counts them, by the path that they were sent to. */

export type CollectorDescription = Readonly<{ port: number }>;

const spans: Record<string, number> = {};

const server = createServer(async (request, response) => {
  const { url = '' } = request;
  const taken = (await text(request)).split('"spanId":').length - 1; // links, which have one too, are not in what the bench sends
  spans[url] = (spans[url] ?? 0) + taken;
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
});
const { port } = await listening(server);
answerParent({ spans: (path: string): number => spans[path] ?? 0 });
const description: CollectorDescription = { port };
process.send?.(description);
