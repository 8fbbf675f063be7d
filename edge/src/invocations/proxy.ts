import { randomUUID } from 'node:crypto';
import type { Configuration } from '../configuration/read.ts';
import type { DownloadedFiles, FileInputs } from '../files/fileInputs.ts';
import { failure, type Invocation, type MethodResponse, methodNameProblem, readInvocation } from '../hub/invocation.ts';
import type { BrokerConnection } from '../modules/brokerConnection.ts';
import { type DroppedReplies, type DropReason, type Reply, requestFor, responseTo } from '../modules/messages.ts';
import type { FindRoute, ReplyTopics, Route } from '../modules/routing.ts';
import type { Log } from '../observing/log.ts';
import type { Meter } from '../observing/metrics.ts';

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

export type EdgeProxy = ReturnType<typeof createProxy>;

/** Passes invocations from the hub to modules, and their replies back. */
export function createProxy(options: ProxyOptions) {
  const { setup, broker, topics, concurrency, droppedReplies, log, meter } = options;
  const record = meter.histogram('rpc.server.call.duration');
  /** Requests that await a reply, each on the topic of its module. */
  const pending = new Map<string, (reply: Reply) => void>();
  const running = new Set<End>();
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
    const end: End = { isOver: false, atEnd() {} };
    const timer = setTimeout(over, (timeout - marginSeconds) * 1000, end);
    const releaseTopic = topics.hold([found.module]);
    running.add(end);
    try {
      return await deliver(invocation, found, fileInputs, end, fields);
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
    end: End,
    fields: InvocationFields,
  ): Promise<MethodResponse> {
    const { id, topics_methods_out: topic } = route.module;
    if (!broker()?.isSubscribedTo(topic)) return unreachable;
    let files: DownloadedFiles | undefined;
    if (invocation.files?.size) {
      fields.files = invocation.files.size;
      fields.fileBytes = [...invocation.files.values()].reduce((sum, { bytes }) => sum + bytes, 0);
      const downloading = new AbortController();
      end.atEnd = () => downloading.abort();
      const result = await fileInputs.download(id, invocation.files, downloading.signal);
      if (result.kind !== 'files') {
        if (isAborted) return stopped;
        if (result.cause !== undefined) fields.cause = result.cause;
        return failure(withoutFiles[result.kind], result.detail);
      }
      files = result.files;
    }
    const requestId = randomUUID();
    fields.requestId = requestId;
    const key = keyOf(topic, requestId);
    const received = new Promise<Reply | undefined>((resolve) => {
      pending.set(key, resolve);
      end.atEnd = () => resolve(undefined);
    });
    const refusal = publish();
    if (refusal) {
      pending.delete(key);
      await files?.discard();
      return refusal;
    }
    files?.keep();
    const reply = await received;
    pending.delete(key);
    if (reply) return responseTo(reply);
    if (isAborted) return failure('aborted', 'the edge proxy stopped before the module replied');
    return failure('no_reply', 'the module did not reply in time');

    /** Publishes the request once; returns a failure when it was not sent. */
    function publish(): MethodResponse | undefined {
      if (end.isOver) return isAborted ? stopped : timedOut;
      const connection = broker();
      if (!connection?.isSubscribedTo(topic)) return unreachable;
      const request = requestFor(invocation, route, requestId, files?.names);
      return connection.publish(request.topic, request.payload) ? undefined : unreachable;
    }
  }

  const countDropped = (topic: string, reason: DropReason) =>
    droppedReplies.count(topics.moduleOf(topic) ?? '', reason);

  return {
    /** Never rejects. */
    async invoke(payload: unknown): Promise<MethodResponse> {
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

    receive(reply: Reply) {
      const { topic, requestId, isRetained } = reply;
      if (isRetained) return countDropped(topic, 'retained');
      const own = keyOf(topic, requestId);
      const onReply = pending.get(own);
      pending.delete(own);
      if (onReply) onReply(reply);
      else countDropped(topic, 'unknown');
    },

    /** Refuses new invocations. */
    stop() {
      isStopping = true;
    },

    /** Ends the invocations in progress. */
    abort() {
      isAborted = true;
      for (const end of running) over(end);
    },
  };
}

/** Of an invocation; `atEnd` ends what it waits for. An AbortController would cost ten times as much. */
type End = { isOver: boolean; atEnd(): void };

const over = (end: End): void => Object.assign(end, { isOver: true }).atEnd();

/** A request id contains no slash. */
const keyOf = (topic: string, requestId: string): string => `${topic}/${requestId}`;

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

type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>;

/**
 * Limits the invocations in progress, in total and for each module.
 * @param limits in effect
 */
export function createConcurrencyLimit(limits: () => Omit<Configuration['limits'], 'drainSeconds'>) {
  const perModule = new Map<string, number>();
  let inFlight = 0;
  let onIdle: (() => void)[] = [];

  function release(moduleId: string) {
    inFlight -= 1;
    const remaining = (perModule.get(moduleId) ?? 1) - 1;
    if (remaining === 0) perModule.delete(moduleId);
    else perModule.set(moduleId, remaining);
    if (inFlight > 0) return;
    for (const resolve of onIdle) resolve();
    onIdle = [];
  }

  return {
    /** Returns its release; undefined when a limit is reached. */
    acquire(moduleId: string): (() => void) | undefined {
      const ofModule = perModule.get(moduleId) ?? 0;
      const most = limits();
      if (inFlight >= most.inFlight || ofModule >= most.inFlightPerModule) return undefined;
      inFlight += 1;
      perModule.set(moduleId, ofModule + 1);
      return () => release(moduleId);
    },
    get inFlight() {
      return inFlight;
    },
    /** Resolves when nothing is in progress. */
    idle: (): Promise<void> => (inFlight === 0 ? Promise.resolve() : new Promise((resolve) => onIdle.push(resolve))),
  };
}

/** Fields of the log line of an invocation. Never inputs, outputs or URLs (G5). */
interface InvocationFields {
  correlationId?: string;
  objectId?: string;
  target?: string;
  method?: string;
  timeout?: number;
  module?: string;
  requestId?: string;
  files?: number;
  fileBytes?: number;
  /** Why the module's folder cannot be written. */
  cause?: string;
  durationMs?: number;
}

const maxTextLength = 256;

function logInvocation(log: Log, response: MethodResponse, fields: InvocationFields): void {
  const shortened: Record<string, unknown> = { ...fields };
  for (const name in shortened) {
    const value = shortened[name];
    if (typeof value === 'string') shortened[name] = value.slice(0, maxTextLength);
  }
  if (response.status === 200) {
    log.info({ ...shortened, methodStatus: response.payload.status }, 'method invoked');
    return;
  }
  const { status, reason, payload } = response;
  const { detail: details, invoked, status: methodStatus } = payload;
  const line = { ...shortened, status, reason, details, invoked, ...(methodStatus !== undefined && { methodStatus }) };
  if (status < 500) log.info(line, 'method not invoked');
  else log.warn(line, 'method not invoked, or its outcome is unknown');
}
