import { randomUUID } from 'node:crypto';
import type { DownloadedFiles, FileInputs } from '../files/fileInputs.ts';
import { type Invocation, methodNameProblem, readInvocation } from '../hub/invocation.ts';
import { failure, type MethodResponse } from '../hub/methodResponse.ts';
import type { Meter } from '../metrics/metrics.ts';
import type { BrokerConnection } from '../modules/brokerConnection.ts';
import type { DroppedReplies, DropReason } from '../modules/droppedReplies.ts';
import { createPendingReplies } from '../modules/pendingReplies.ts';
import { type Reply, responseTo } from '../modules/reply.ts';
import type { ReplyTopics } from '../modules/replyTopics.ts';
import { requestFor } from '../modules/request.ts';
import type { FindRoute, Route } from '../modules/routing.ts';
import type { Log } from '../operations/log.ts';
import type { ConcurrencyLimit } from './concurrencyLimit.ts';
import { type InvocationFields, logInvocation } from './invocationLog.ts';

/** Passes invocations from the hub to modules, and their replies back. */
export interface EdgeProxy {
  /** Never rejects. */
  invoke(payload: unknown): Promise<MethodResponse>;
  receive(reply: Reply): void;
  /** Refuses new invocations. */
  stop(): void;
  /** Ends the invocations in progress. */
  abort(): void;
}

/** What a configuration makes of an invocation. */
export interface Setup {
  readonly route: FindRoute;
  readonly fileInputs: FileInputs;
}

interface ProxyOptions {
  /** In effect. An invocation ends with that with which it began (M10). */
  readonly setup: () => Setup;
  readonly broker: () => BrokerConnection | undefined;
  readonly topics: ReplyTopics;
  readonly concurrency: ConcurrencyLimit;
  readonly droppedReplies: DroppedReplies;
  readonly log: Log;
  readonly meter: Meter;
}

/** The proxy responds before the hub's time-out expires (M6). */
const marginSeconds = 1;

export function createProxy({
  setup,
  broker,
  topics,
  concurrency,
  droppedReplies,
  log,
  meter,
}: ProxyOptions): EdgeProxy {
  const record = meter.histogram('rpc.server.call.duration');
  const pending = createPendingReplies<Reply>();
  const running = new Set<AbortController>();
  let isStopping = false;
  let isAborted = false;

  async function invoke(payload: unknown, fields: InvocationFields): Promise<MethodResponse> {
    const invocation = readInvocation(payload);
    if ('problem' in invocation) return failure('invalid_invocation', invocation.problem);
    const { correlationId, objectId, target, method, timeout } = invocation;
    Object.assign(fields, { correlationId, objectId, target, method, timeout });
    if (isStopping) return failure('stopping', 'the edge proxy is stopping');
    const { route, fileInputs } = setup();
    const found = route(objectId, target);
    if (!found) return failure('no_module', 'no module of this device owns or serves this object');
    if (found === 'other_object') return failure('other_object', anotherObject);
    const { id } = found.module;
    fields.module = id;
    const problem = found.isGateway ? undefined : methodNameProblem(method);
    if (problem !== undefined) return failure('invalid_invocation', problem);
    const release = concurrency.acquire(id);
    if (!release) return failure('overloaded', 'too many invocations are in progress, in total or for this module');
    const end = new AbortController();
    const timer = setTimeout(() => end.abort(), (timeout - marginSeconds) * 1000);
    const releaseTopic = topics.hold([found.module]);
    running.add(end);
    try {
      return await deliver(invocation, found, fileInputs, end.signal, fields);
    } finally {
      clearTimeout(timer);
      running.delete(end);
      releaseTopic();
      release();
    }
  }

  async function deliver(
    invocation: Invocation,
    route: Route,
    fileInputs: FileInputs,
    signal: AbortSignal,
    fields: InvocationFields,
  ): Promise<MethodResponse> {
    const { id, topics_methods_out: topic } = route.module;
    if (!broker()?.isSubscribedTo(topic)) return unreachable;
    let files: DownloadedFiles | undefined;
    if (invocation.files?.size) {
      fields.files = invocation.files.size;
      fields.fileBytes = [...invocation.files.values()].reduce((sum, { bytes }) => sum + bytes, 0);
      const result = await fileInputs.download(id, invocation.files, signal);
      if (result.kind !== 'files') {
        if (isAborted) return stopped;
        if (result.cause !== undefined) fields.cause = result.cause;
        return failure(withoutFiles[result.kind], result.detail);
      }
      files = result.files;
    }
    const requestId = randomUUID();
    fields.requestId = requestId;
    const reply = awaitReply(topic, requestId, signal);
    const refusal = publish(invocation, route, requestId, signal, files);
    if (refusal) {
      reply.cancel();
      await files?.discard();
      return refusal;
    }
    files?.keep();
    const received = await reply.received;
    if (received) return responseTo(received);
    if (isAborted) return failure('aborted', 'the edge proxy stopped before the module replied');
    return failure('no_reply', 'the module did not reply in time');
  }

  /** Publishes the request once; returns a failure when it was not sent. */
  function publish(
    invocation: Invocation,
    route: Route,
    requestId: string,
    signal: AbortSignal,
    files: DownloadedFiles | undefined,
  ): MethodResponse | undefined {
    if (signal.aborted) return isAborted ? stopped : timedOut;
    const connection = broker();
    if (!connection?.isSubscribedTo(route.module.topics_methods_out)) return unreachable;
    const { topic, payload } = requestFor(invocation, route, requestId, files?.names);
    return connection.publish(topic, payload) ? undefined : unreachable;
  }

  function awaitReply(replyTopic: string, requestId: string, signal: AbortSignal) {
    let cancel = () => {};
    const received = new Promise<Reply | undefined>((resolve) => {
      cancel = () => {
        pending.remove(replyTopic, requestId);
        resolve(undefined);
      };
      signal.addEventListener('abort', cancel, { once: true });
      pending.add(replyTopic, requestId, resolve);
    });
    return { received, cancel };
  }

  const countDropped = (topic: string, reason: DropReason) =>
    droppedReplies.count(topics.moduleOf(topic) ?? '', reason);

  return {
    async invoke(payload) {
      const startedAt = performance.now();
      const fields: InvocationFields = {};
      const response = await invoke(payload, fields).catch((error: unknown) => {
        log.error({ err: error, ...fields }, 'unforeseen failure');
        return failure('internal_error', 'the edge proxy failed');
      });
      const durationMs = performance.now() - startedAt;
      const reason = response.status === 200 ? '' : response.reason;
      record(durationMs / 1000, fields.module ?? '', String(response.status), reason);
      logInvocation(log, response, { ...fields, durationMs: Math.round(durationMs) });
      return response;
    },

    receive(reply) {
      const { topic, requestId, isRetained } = reply;
      if (isRetained) countDropped(topic, 'retained');
      else if (!pending.resolve(topic, requestId, reply)) countDropped(topic, 'unknown');
    },

    stop() {
      isStopping = true;
    },

    abort() {
      isAborted = true;
      for (const end of running) end.abort();
    },
  };
}

const withoutFiles = {
  failed: 'file_not_downloaded',
  unavailable: 'folder_unavailable',
  refused: 'takes_no_files',
} as const;
const anotherObject =
  'the module that owns this identity serves another object of it; after a change of the object the edge proxy must start or read its file again';
const unreachable = failure(
  'broker_unavailable',
  'the broker is not connected, or does not let the proxy receive replies of this module',
);
const stopped = failure('stopping', 'the edge proxy stopped before it delivered the invocation');
const timedOut = failure('too_late', 'the time-out expired before the invocation was delivered');
