import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent } from 'node:https';

/** Access to the HTTPS requests of the hub's client, which the client does not offer. */
export interface HttpsRequests {
  readonly agent: Agent;
  /** Returns the request that the client starts during `start`; undefined when it starts none. */
  capture(start: () => void): ClientRequest | undefined;
  /** What has arrived of the response: the client returns only the values that it has parsed. */
  responseTo(request: ClientRequest): string;
  close(): void;
}

type AddRequest = (request: ClientRequest, ...rest: unknown[]) => void;

/** Less than at the hub, so that no request uses a connection that the hub is closing. */
const idleMs = 20_000;

/** More than any response of the hub. */
const maxResponseBytes = 2 * 1024 * 1024;

/**
 * An agent with keep-alive that captures requests, so that they can be aborted, and sets the encoding of responses: the
 * client decodes each chunk separately and would break characters between two chunks.
 * @param hostName `name` or `name:port`
 * @param ca PEM of certificate authorities that replace the default ones
 */
export function createHttpsRequests(hostName: string, ca?: string): HttpsRequests {
  const { hostname, port } = new URL(`https://${hostName}`);
  const agent = new Agent({ host: hostname, port: Number(port || 443), keepAlive: true, timeout: idleMs, ca });
  const addRequest: AddRequest = Reflect.get(agent, 'addRequest');
  const responses = new WeakMap<ClientRequest, string[]>();
  let captured: ClientRequest | undefined;
  Reflect.set(agent, 'addRequest', (request: ClientRequest, ...rest: unknown[]) => {
    captured = request;
    const texts: string[] = [];
    responses.set(request, texts);
    request.once('response', (response) => keepResponse(response, texts));
    Reflect.apply(addRequest, agent, [request, ...rest]);
  });

  return {
    agent,
    capture(start) {
      captured = undefined;
      start();
      return captured;
    },
    responseTo: (request) => responses.get(request)?.join('') ?? '',
    close: () => agent.destroy(),
  };
}

function keepResponse(response: IncomingMessage, texts: string[]): void {
  let bytes = 0;
  response.setEncoding('utf8');
  response.on('data', (text: string) => {
    bytes += Buffer.byteLength(text);
    if (bytes > maxResponseBytes) response.destroy(new Error('the response is too large'));
    else texts.push(text);
  });
}
