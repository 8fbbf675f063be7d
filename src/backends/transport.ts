import type { AxiosResponse, InternalAxiosRequestConfig } from 'axios';
import type { Dispatcher } from 'undici';
import { openPool } from '../network/pool.ts';
import type { TransportFault } from '../protocol/vocabulary.ts';
import { saidOf, tooManyFiles } from '../text/absence.ts';
import { createJoined } from './joined.ts';
import { createLargeAnswer, type LargeAnswer, type ReadingRoom, usualAnswerBytes } from './largeAnswer.ts';
import { createTimeouts } from './timeouts.ts';

/** An attempt without a response. The message is for logs only: it may contain an address. */
export class TransportFailure extends Error {
  override readonly name = 'TransportFailure';
  readonly fault: TransportFault;
  /** Whether the backend may have received the request; its effect is then unknown. */
  readonly sent: boolean;

  constructor(fault: TransportFault, sent: boolean, cause?: unknown) {
    super(cause instanceof Error ? `${fault}: ${saidOf(cause)}` : fault);
    this.fault = fault;
    this.sent = sent;
  }
}

export interface TransportSettings {
  /** Most connections; further requests wait in a queue. */
  readonly connections: number;
  /** The usual limit of an attempt in ms, including the time in the queue and for connecting. */
  readonly attemptTimeoutMs: number;
  /** For large answers; nowhere are they charged when omitted, for those who expect none. */
  readonly room?: ReadingRoom | undefined;
}

/** Of an answer over `usualAnswerBytes` that is no success, only the beginning is kept. */
export interface ReceivedAnswer extends AxiosResponse<Buffer> {
  /** For a large one: gives back its room. To be called when it has been read. */
  release?: (() => void) | undefined;
}

export type Adapter = (config: InternalAxiosRequestConfig) => Promise<ReceivedAnswer>;

export interface Transport {
  /** Supports `method`, `url` (path and query), `headers`, `data`, `timeout`, `maxContentLength`. Rejects with TransportFailure. */
  readonly adapter: Adapter;
  /** Aborts running requests. */
  close(): Promise<void>;
}

/** Connects axios to undici: an adapter over `Pool.dispatch` costs a fraction of axios' own adapters. */
export function createTransport(url: string, { connections, attemptTimeoutMs, room }: TransportSettings): Transport {
  const { origin, pathname } = new URL(url);
  const base = pathname.replace(/\/+$/, '');
  const timeouts = createTimeouts(attemptTimeoutMs);
  const pool = openPool(origin, { connections, connectMs: attemptTimeoutMs });

  const adapter: Adapter = (config) =>
    new Promise((resolve, reject) => {
      const limit = config.maxContentLength ?? Number.POSITIVE_INFINITY;
      const response: ReceivedAnswer = { status: 0, statusText: '', headers: {}, data: empty, config };
      const body = createJoined(limit);
      let large: LargeAnswer | undefined;
      let bytes = 0;
      let controller: Dispatcher.DispatchController | undefined;
      let failure: TransportFailure | undefined;

      const fail = (fault: TransportFault, cause?: unknown) => {
        cancel();
        failure ??= new TransportFailure(fault, controller !== undefined, cause);
        large?.release();
        controller?.abort(failure);
        reject(failure);
      };
      const startTimeout = () => timeouts.start(config.timeout || attemptTimeoutMs, () => fail('no answer in time'));
      let cancel = startTimeout();

      /** Reads on when there is room. The wait for it is no fault of the backend, whose time begins again then. */
      function takeRoom(most: number) {
        if (room === undefined || response.status >= 300) return;
        large = createLargeAnswer(room, most);
        if (large.waiting === undefined) return;
        cancel();
        controller?.pause();
        void large.waiting.then(() => {
          if (failure) return;
          cancel = startTimeout();
          controller?.resume();
        });
      }

      const handler: Dispatcher.DispatchHandler = {
        onRequestStart(started) {
          // The attempt timed out while the request was in the queue.
          if (failure) started.abort(failure);
          else controller = started;
        },
        onResponseStart(_, status, headers) {
          response.status = status;
          const { 'retry-after': retryAfter, 'content-length': length } = headers;
          if (retryAfter !== undefined) response.headers['retry-after'] = String(retryAfter);
          if (Number(length) > limit) fail('answer too large');
          else if (Number(length) > usualAnswerBytes) takeRoom(Number(length));
        },
        onResponseData(_, chunk) {
          const before = bytes;
          bytes += chunk.length;
          if (bytes > limit) fail('answer too large');
          else if (response.status < 300 || before <= usualAnswerBytes) body.add(chunk);
          if (bytes > usualAnswerBytes && large === undefined && failure === undefined) takeRoom(limit);
        },
        onResponseEnd() {
          cancel();
          response.data = body.bytes();
          if (large !== undefined) {
            large.received(bytes);
            response.release = large.release;
          }
          resolve(response);
        },
        onResponseError(_, error) {
          // undici rejects the request as invalid: a defect of the service, which a retry does not help.
          if (codeOf(error) === 'UND_ERR_INVALID_ARG') reject(error);
          fail(controller ? 'connection lost' : (unconnected[codeOf(error) ?? ''] ?? 'no connection'), error);
        },
      };
      pool.dispatch(
        {
          path: base + config.url,
          method: config.method?.toUpperCase() as Dispatcher.HttpMethod,
          headers: { ...config.headers } as Record<string, string>,
          body: config.data,
        },
        handler,
      );
    });

  return { adapter, close: () => pool.destroy() };
}

const empty = Buffer.alloc(0);

const unconnected: Readonly<Record<string, TransportFault>> = {
  ECONNREFUSED: 'connection refused',
  EMFILE: tooManyFiles,
  ENFILE: tooManyFiles,
};

const codeOf = (error: Error) => (error as NodeJS.ErrnoException).code;
