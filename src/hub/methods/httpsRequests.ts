import type { Dispatcher } from 'undici';
import { createJoined } from '../../backends/transport.ts';
import { openPool } from '../../network/pool.ts';

/** HTTPS for the hub's client, in place of its own, which uses Node's (D356). */
export interface HttpsRequests {
  /** The client calls it to begin a request. */
  readonly buildRequest: BuildRequest;
  /** Returns the request that the client begins during `start`; undefined when it begins none. */
  capture(start: () => void): HttpsRequest | undefined;
  close(): void;
}

/** One request, as the client's caller sees it. */
export interface HttpsRequest {
  /** When it was sent, as `performance.now()`; undefined while it waits for a connection. */
  sentAt(): number | undefined;
  abort(): void;
}

/** What the client passes on to its caller. */
export interface HttpsResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body: the client returns only the values that it has parsed. */
  readonly text: string;
}

/** The interface of the client's own module, as far as it is used. */
type BuildRequest = (
  method: Dispatcher.HttpMethod,
  path: string,
  headers: Record<string, string>,
  host: string,
  done: (error: Error | null, body?: string, response?: HttpsResponse) => void,
) => {
  write(text: string): void;
  end(): void;
  /** Without effect: the caller limits the time. */
  setTimeout(ms: number): void;
};

/** Less than at the hub, so that no request uses a connection that the hub is closing. */
const idleMs = 20_000;

/** A request that waits longer for its connection fails unsent: without a limit, those of a hub that is out of reach would pile up. */
const connectMs = 10_000;

/** More than any response of the hub. */
const maxResponseBytes = 2 * 1024 * 1024;

/**
 * @param hostName `name` or `name:port`
 * @param ca PEM of certificate authorities that replace the default ones
 */
export function createHttpsRequests(hostName: string, ca?: string): HttpsRequests {
  const pool = openPool(`https://${hostName}`, { connectMs, idleMs, ca });
  let captured: HttpsRequest | undefined;

  return {
    buildRequest(method, path, headers, _, done) {
      let body = '';
      let controller: Dispatcher.DispatchController | undefined;
      let sentAt: number | undefined;
      let isAborted = false;
      let [statusCode, responseHeaders]: [number, HttpsResponse['headers']] = [0, {}];
      let bytes = 0;
      const joined = createJoined();

      const handler: Dispatcher.DispatchHandler = {
        onRequestStart(started) {
          if (isAborted) return started.abort(aborted());
          controller = started;
          sentAt = performance.now();
        },
        onResponseStart(_, status, received) {
          [statusCode, responseHeaders] = [status, received];
        },
        onResponseData(current, piece) {
          bytes += piece.length;
          if (bytes > maxResponseBytes) current.abort(new Error('the response is too large'));
          else joined.add(piece);
        },
        onResponseEnd() {
          const text = joined.bytes().toString('utf8');
          const error = statusCode >= 300 ? new Error(`HTTP ${statusCode}`) : null;
          done(error, text, { statusCode, headers: responseHeaders, text });
        },
        onResponseError: (_, error) => done(error),
      };
      captured = {
        sentAt: () => sentAt,
        abort() {
          isAborted = true;
          controller?.abort(aborted());
        },
      };
      return {
        write(text) {
          body += text;
        },
        end: () => void pool.dispatch({ method, path, headers, body }, handler),
        setTimeout() {},
      };
    },
    capture(start) {
      captured = undefined;
      start();
      return captured;
    },
    close: () => void pool.destroy(),
  };
}

const aborted = () => new Error('the request was ended');
