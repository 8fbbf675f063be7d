import type { AxiosResponse, InternalAxiosRequestConfig } from 'axios';
import type { Dispatcher } from 'undici';
import { openPool } from '../access/network.ts';
import type { Line } from '../engine/rooms.ts';
import { saidOf, tooManyFiles } from '../observing/diagnosis.ts';
import type { TransportFault } from '../protocol/vocabulary.ts';

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

/** Where the large answers that a process reads at a time are charged; they wait there in order of arrival. */
export type ReadingRoom = Pick<Line, 'take' | 'shrink' | 'give'>;

interface TransportSettings {
  readonly connections: number;
  /** The usual limit of an attempt, including the time in the queue and for connecting. */
  readonly attemptTimeoutMs: number;
  readonly room?: ReadingRoom | undefined;
}

/** Of an answer over `usualAnswerBytes` that is no success, only the beginning is kept. */
export interface ReceivedAnswer extends AxiosResponse<Buffer> {
  /** For a large one: gives back its room. To be called when it has been read. */
  release?: (() => void) | undefined;
}

/** Supports `method`, `url` (path and query), `headers`, `data`, `timeout`, `maxContentLength`. Rejects with TransportFailure. */
export type Adapter = (config: InternalAxiosRequestConfig) => Promise<ReceivedAnswer>;

/** Connects axios to undici: an adapter over `Pool.dispatch` costs a fraction of axios' own adapters. @param given replaces the network */
export function createTransport(url: string, settings: TransportSettings, given?: Adapter) {
  const { connections, attemptTimeoutMs, room } = settings;
  if (given) return { adapter: given, close: async () => {} };
  const { origin, pathname } = new URL(url);
  const base = pathname.replace(/\/+$/, '');
  const pool = openPool(origin, { connections, connectMs: attemptTimeoutMs });

  const adapter: Adapter = (config) =>
    new Promise((resolve, reject) => {
      const limit = config.maxContentLength ?? Number.POSITIVE_INFINITY;
      const timeoutMs = config.timeout || attemptTimeoutMs;
      const response: ReceivedAnswer = { status: 0, statusText: '', headers: {}, data: empty, config };
      const body = createJoined(limit);
      let large: ReturnType<typeof createLargeAnswer> | undefined;
      let bytes = 0;
      let controller: Dispatcher.DispatchController | undefined;
      let failure: TransportFailure | undefined;

      const fail = (fault: TransportFault, cause?: unknown) => {
        clearTimeout(timer);
        failure ??= new TransportFailure(fault, controller !== undefined, cause);
        large?.release();
        controller?.abort(failure);
        reject(failure);
      };
      const startTimer = () => setTimeout(fail, timeoutMs, 'no answer in time').unref();
      let timer = startTimer();

      /** Reads on when there is room. The wait for it is no fault of the backend, whose time begins again then. */
      function takeRoom(most: number) {
        if (room === undefined || response.status >= 300) return;
        large = createLargeAnswer(room, most);
        if (large.waiting === undefined) return;
        clearTimeout(timer);
        controller?.pause();
        void large.waiting.then(() => {
          if (failure) return;
          timer = startTimer();
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
          if (status < 200) return; // informational: the answer follows
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
          clearTimeout(timer);
          response.data = body.bytes();
          large?.received(bytes);
          response.release = large?.release;
          resolve(response);
        },
        onResponseError(_, error) {
          const { code = '' }: NodeJS.ErrnoException = error;
          // undici rejects the request as invalid: a defect of the service, which a retry does not help.
          if (code === 'UND_ERR_INVALID_ARG') reject(error);
          fail(controller ? 'connection lost' : (unconnected[code] ?? 'no connection'), error);
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

  // Closing aborts running requests.
  return { adapter, close: () => pool.destroy() };
}

const empty = Buffer.alloc(0);

const unconnected: Readonly<Record<string, TransportFault>> = {
  ECONNREFUSED: 'connection refused',
  EMFILE: tooManyFiles,
  ENFILE: tooManyFiles,
};

const leastBytes = 16 * 1024;

/**
 * Joins the pieces of a body in one buffer that grows: kept as they come, pieces of a byte hold a hundred times as much. An only piece is not copied.
 * @param most bytes that will come, as far as is known
 */
export function createJoined(most = Number.POSITIVE_INFINITY) {
  let buffer: Buffer = empty;
  let length = 0;

  return {
    add(piece: Buffer): void {
      const needed = length + piece.length;
      if (length === 0) buffer = piece;
      else {
        if (needed > buffer.length) {
          const larger = Buffer.allocUnsafe(Math.max(Math.min(2 * length, most), needed, leastBytes));
          buffer.copy(larger, 0, 0, length);
          buffer = larger;
        }
        piece.copy(buffer, length);
      }
      length = needed;
    },
    bytes: (): Buffer => (length === buffer.length ? buffer : buffer.subarray(0, length)),
  };
}

/** An answer of this size needs no room but its connection (R6). */
export const usualAnswerBytes = 64 * 1024;
/** The bytes as they come, and the copy that is read. */
const perAnswerByte = 2;
/** Of the reading room of the service and of the front door. */
export const readingBytes = 32 * 1024 * 1024;

/** The room of one answer of more than `usualAnswerBytes`, from before more of it is received until it has been read. */
export function createLargeAnswer(room: ReadingRoom, most: number) {
  let held = perAnswerByte * most;
  let isOver = false;
  const waiting = room.take(held)?.then(() => {
    isTaken = true;
    if (isOver) room.give(held);
  });
  let isTaken = waiting === undefined;

  return {
    waiting,
    received(bytes: number): void {
      const excess = held - perAnswerByte * bytes;
      held -= excess;
      room.shrink(excess);
    },
    /** Gives the room back, or the place in the line; may be called twice. */
    release(): void {
      if (isOver) return;
      isOver = true;
      if (isTaken) room.give(held);
    },
  };
}
