import { randomUUID } from 'node:crypto';
import { type Answer, failure } from './answer.ts';
import type { BrokerLife, Incoming } from './connections/broker.ts';
import type { Dropped } from './dropped.ts';
import type { Delivered, FileInputs, FilesAnswer } from './files/fileInputs.ts';
import { type Invocation, methodFault, readInvocation } from './invocation.ts';
import { type Fields, logAnswer } from './line.ts';
import type { Log } from './log.ts';
import type { Match } from './matching.ts';
import { type Reply, readReply } from './reply.ts';
import { requestOf } from './request.ts';
import type { Room } from './room.ts';
import { createWaiting } from './waiting.ts';

/** Invocations of the hub, handed to modules. */
export interface EdgeProxy {
  /** Never rejects. */
  invoke(payload: unknown): Promise<Answer>;
  /** A message on a module's topic for replies. */
  incoming(message: Incoming): void;
  /** Takes no more. */
  stop(): void;
  /** Ends what is in work. */
  breakOff(): void;
}

interface ProxyOptions {
  readonly match: (objectId: string, target: string) => Match | undefined;
  readonly broker: () => BrokerLife | undefined;
  readonly fileInputs: FileInputs;
  readonly room: Room;
  readonly dropped: Dropped;
  readonly log: Log;
}

/** The edge answers so much earlier than the hub gives up (M6). */
const marginSeconds = 1;

export function createProxy({ match, broker, fileInputs, room, dropped, log }: ProxyOptions): EdgeProxy {
  const waiting = createWaiting<Reply>();
  const running = new Set<AbortController>();
  let isStopping = false;
  let isBrokenOff = false;

  async function invoke(payload: unknown, fields: Fields): Promise<Answer> {
    const invocation = readInvocation(payload);
    if ('fault' in invocation) return failure(400, invocation.fault);
    const { correlationId, objectId, target, method, timeout } = invocation;
    Object.assign(fields, { correlationId, objectId, target, method, timeout });
    if (isStopping) return failure(503, 'the edge proxy stops');
    const found = match(objectId, target);
    if (!found) return failure(404, 'no module of this device has or serves this object');
    const { id } = found.module;
    fields.module = id;
    const fault = found.isGateway ? undefined : methodFault(method);
    if (fault !== undefined) return failure(400, fault);
    const leave = room.enter(id);
    if (!leave) return failure(503, 'too many invocations are in work, in all or for this module');
    const end = new AbortController();
    const timer = setTimeout(() => end.abort(), (timeout - marginSeconds) * 1000);
    running.add(end);
    try {
      return await carryOut(invocation, found, end.signal, fields);
    } finally {
      clearTimeout(timer);
      running.delete(end);
      leave();
    }
  }

  async function carryOut(invocation: Invocation, found: Match, signal: AbortSignal, fields: Fields): Promise<Answer> {
    const { id } = found.module;
    if (!broker()?.hears(id)) return away;
    const fetched = await filesOf(invocation, id, signal, fields);
    if (fetched && fetched.kind !== 'files') return isBrokenOff ? stopped : withoutFiles(fetched, fields);
    const files = fetched?.files;
    const requestId = randomUUID();
    fields.requestId = requestId;
    const reply = replyTo(id, requestId, signal);
    const undelivered = handOver(invocation, found, requestId, signal, files);
    if (undelivered) {
      reply.cancel();
      await files?.discard();
      return undelivered;
    }
    files?.deliver();
    const message = await reply.message;
    if (message) return readReply(message);
    return failure(
      504,
      isBrokenOff ? 'the edge proxy stopped before the module replied' : 'the module did not reply in time',
    );
  }

  function filesOf({ files }: Invocation, moduleId: string, signal: AbortSignal, fields: Fields) {
    if (files === undefined || files.size === 0) return undefined;
    fields.files = files.size;
    fields.fileBytes = [...files.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    return fileInputs.fetch(moduleId, files, signal);
  }

  /** Publishes the request, once; the answer when that cannot be. */
  function handOver(invocation: Invocation, found: Match, requestId: string, signal: AbortSignal, files?: Delivered) {
    if (signal.aborted) return isBrokenOff ? stopped : tooLate;
    const life = broker();
    if (!life?.hears(found.module.id)) return away;
    const { topic, payload } = requestOf(invocation, found, requestId, files?.names);
    return life.publish(topic, payload) ? undefined : away;
  }

  function replyTo(moduleId: string, requestId: string, signal: AbortSignal) {
    let cancel = () => {};
    const message = new Promise<Reply | undefined>((resolve) => {
      cancel = () => {
        waiting.remove(moduleId, requestId);
        resolve(undefined);
      };
      signal.addEventListener('abort', cancel, { once: true });
      waiting.add(moduleId, requestId, resolve);
    });
    return { message, cancel };
  }

  return {
    async invoke(payload) {
      const began = performance.now();
      const fields: Fields = {};
      const answer = await invoke(payload, fields).catch((error: unknown) => {
        log.error({ err: error, ...fields }, 'unforeseen failure');
        return failure(502, 'the edge proxy has failed');
      });
      logAnswer(log, answer, { ...fields, durationMs: Math.round(performance.now() - began) });
      return answer;
    },

    incoming({ moduleId, requestId, status, payload, isRetained }) {
      if (isRetained) dropped.count(moduleId, 'retained');
      else if (!waiting.reply(moduleId, requestId, { status, payload })) dropped.count(moduleId, 'unknown');
    },

    stop() {
      isStopping = true;
    },

    breakOff() {
      isBrokenOff = true;
      for (const end of running) end.abort();
    },
  };
}

const away = failure(503, 'the broker of the modules is away, or does not let the proxy hear this module');
const stopped = failure(503, 'the edge proxy stopped before it was delivered');
const tooLate = failure(503, 'the time was over before it was delivered');

function withoutFiles(answer: Exclude<FilesAnswer, { kind: 'files' }>, fields: Fields): Answer {
  if (answer.kind === 'failed') return failure(502, answer.detail);
  if (answer.cause !== undefined) fields.cause = answer.cause;
  return failure(503, answer.detail);
}
