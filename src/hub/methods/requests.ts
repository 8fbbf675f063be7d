import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent } from 'node:https';

/** HTTPS requests of the hub's client, which keeps them to itself. */
export interface Requests {
  readonly agent: Agent;
  /** The request that the client makes while `begin` runs; undefined when it makes none. */
  begunBy(begin: () => void): ClientRequest | undefined;
  close(): void;
}

type AddRequest = (request: ClientRequest, ...rest: unknown[]) => void;

/** The hub closes connections that are idle for some minutes: ours go first, so that none is used in that very moment. */
const idleMs = 20_000;

/** No answer of the hub has so many bytes. */
const mostAnswerBytes = 2 * 1024 * 1024;

/**
 * Connections to the host of a connection string, `name` or `name:port`, which are kept. The client of the hub shows neither
 * its requests, so that none could be broken off, nor decodes an answer as a whole: a character on the border between two
 * pieces would be lost.
 * @param ca certificate authorities to trust instead of the usual ones, PEM
 */
export function createRequests(hostName: string, ca?: string): Requests {
  const { hostname, port } = new URL(`https://${hostName}`);
  const agent = new Agent({ host: hostname, port: Number(port || 443), keepAlive: true, timeout: idleMs, ca });
  const addRequest: AddRequest = Reflect.get(agent, 'addRequest');
  let begun: ClientRequest | undefined;
  Reflect.set(agent, 'addRequest', (request: ClientRequest, ...rest: unknown[]) => {
    begun = request;
    request.once('response', readWhole);
    Reflect.apply(addRequest, agent, [request, ...rest]);
  });

  return {
    agent,
    begunBy(begin) {
      begun = undefined;
      begin();
      return begun;
    },
    close: () => agent.destroy(),
  };
}

function readWhole(answer: IncomingMessage): void {
  let bytes = 0;
  answer.setEncoding('utf8');
  answer.on('data', (text: string) => {
    bytes += Buffer.byteLength(text);
    if (bytes > mostAnswerBytes) answer.destroy(new Error('the answer is too large'));
  });
}
