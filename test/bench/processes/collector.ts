import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listening } from '../../../iot-hub-emulator/test/support/listening.ts';
import { answerParent } from './answerParent.ts';

/** A collector of OpenTelemetry that takes spans and counts them. */

export type CollectorDescription = Readonly<{ port: number }>;

let spans = 0;

const server = createServer(async (request, response) => {
  spans += (await text(request)).split('"spanId":').length - 1; // links, which have one too, are not in what the bench sends
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
});
const { port } = await listening(server);
answerParent({ spans: () => spans });
const description: CollectorDescription = { port };
process.send?.(description);
