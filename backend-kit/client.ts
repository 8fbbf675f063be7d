import { Agent, type IncomingHttpHeaders, request as requestHttp } from 'node:http';
import { request as requestHttps, Agent as TlsAgent } from 'node:https';

/** An HTTP request; its path is sent as it is. */
export interface Outgoing {
  readonly method: string;
  /** Path and query, encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
  /** Breaks the connection off when the answer begins, so that nobody reads it. */
  readonly losesAnswer?: boolean | undefined;
}

export interface Answer {
  readonly request: Outgoing;
  /** 0: there was none. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The text as JSON; undefined if it is none. */
  readonly json: unknown;
  /** Why there was no answer, as words that complete `was not answered: …`. */
  readonly failure?: string;
  /** It came over the connection of an earlier call. */
  readonly isReused: boolean;
}

export type Client = ReturnType<typeof createClient>;

/** Calls one backend over connections that stay open. No redirect is followed. @param timeoutMs for each call */
export function createClient(url: string, timeoutMs: number) {
  const base = new URL(url);
  const isTls = base.protocol === 'https:';
  const agent = new (isTls ? TlsAgent : Agent)({ keepAlive: true, maxSockets: 64 });
  const prefix = base.pathname.replace(/\/+$/, '');

  return {
    /** Never rejects. */
    send(outgoing: Outgoing): Promise<Answer> {
      const none = { request: outgoing, status: 0, headers: {}, text: '', json: undefined, isReused: false };
      // A path or a header that no request can have throws at once.
      return new Promise<Answer>((resolve) => {
        const { method, path, headers, body, losesAnswer } = outgoing;
        const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
        const options = { method, agent, path: prefix + path, headers: { ...headers, ...length } };
        const call = (isTls ? requestHttps : requestHttp)(base, options, (response) => {
          if (losesAnswer) {
            clearTimeout(timer);
            call.destroy();
            resolve({ ...none, failure: 'the kit broke the connection off' });
            return;
          }
          const pieces: Buffer[] = [];
          response.on('data', (piece: Buffer) => pieces.push(piece));
          response.on('error', fail);
          response.on('end', () => {
            clearTimeout(timer);
            const text = Buffer.concat(pieces).toString();
            const { statusCode: status = 0, headers: answered } = response;
            const isReused = call.reusedSocket;
            resolve({ request: outgoing, status, headers: answered, text, json: parsed(text), isReused });
          });
        });
        const timer = setTimeout(() => call.destroy(new Error(`there was no answer in ${timeoutMs} ms`)), timeoutMs);
        const fail = ({ message }: Error) => {
          clearTimeout(timer);
          resolve({ ...none, failure: message });
        };
        call.on('error', fail);
        call.end(body);
      }).catch(({ message }: Error) => ({ ...none, failure: message }));
    },
    close: () => agent.destroy(),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
