import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { listenWith, reset } from '../network/listener.ts';
import { hostWithPort, loopbackNames } from '../network/reach.ts';
import { CallerGone } from './body.ts';

/** What goes back; `body` is JSON text unless a header says otherwise. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Instead of the body. */
  readonly bytes?: Uint8Array;
}

/** Nothing goes back, or a RST, or what has been written already. */
export type Unanswered = 'silent' | 'reset' | 'written';

/** How one HTTP interface answers. */
export interface HttpHandler {
  /** Not shorter than what clients keep idle connections for: a request on a connection that ends just then fails. */
  readonly keepAliveMs: number;
  /** How long the headers of a request may take to come; default half a minute. */
  readonly headersMs?: number;
  serve(request: IncomingMessage, response: ServerResponse): Promise<Answer | Unanswered>;
  /** How an error that `serve` rejects with is answered. */
  explain(error: unknown): Answer | Unanswered;
}

/** An HTTP server that is not listening yet. */
export function createHttpServer({ keepAliveMs, headersMs = 30_000, serve, explain }: HttpHandler): Server {
  // Node looks at its connections now and then
  const limits = { headersTimeout: headersMs / 2, connectionsCheckingInterval: headersMs / 2 };
  return createServer({ keepAliveTimeout: keepAliveMs, ...limits }, (request, response) => {
    const finish = (answer: Answer | Unanswered): void => {
      if (answer === 'reset') reset(request.socket);
      else if (typeof answer !== 'string') send(response, answer);
    };
    serve(request, response)
      .then(finish)
      .catch((error: unknown) => finish(error instanceof CallerGone ? 'silent' : explain(error)))
      .catch(() => finish('reset'));
  });
}

function send(response: ServerResponse, { status, headers, body, bytes }: Answer): void {
  const content = bytes ?? body;
  if (content === undefined) {
    response.writeHead(status, headers).end();
    return;
  }
  const length = Buffer.byteLength(content);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': length, ...headers }).end(content);
}

/** An open port that serves HTTP. */
export interface HttpListener {
  readonly url: string;
  /** Destroys every connection and frees the port. */
  close(): Promise<void>;
}

/** Listens on the loopback interface; port 0 is a free one. */
export async function listenHttp(server: Server, port: number): Promise<HttpListener> {
  const listener = await listenWith(server, { port });
  return {
    url: `http://127.0.0.1:${listener.port}`,
    close() {
      const closed = listener.close();
      server.closeAllConnections();
      return closed;
    },
  };
}

/**
 * Whether a request is of a client and not of a web page, which has an origin or a host name of its own.
 * @param names by which clients call the server, in lower case
 */
export function isLocal({ headers }: IncomingMessage, names: readonly string[] = loopbackNames): boolean {
  const host = (headers.host ?? '').toLowerCase().replace(/:\d+$/, '');
  return headers.origin === undefined && names.some((name) => hostWithPort(name) === host);
}
