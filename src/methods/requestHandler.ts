import type { IncomingMessage, ServerResponse } from 'node:http';
import type { MethodBackends } from '../backends/backends.ts';
import { createDeadline, type Deadline } from '../backends/deadline.ts';
import { createCondition } from '../concurrency/waiting.ts';
import type { InvocationObservation, InvocationRecords, RequestFields } from '../observing/invocationRecords.ts';
import type { LogLines } from '../observing/log.ts';
import { path as pathForm } from '../protocol/fields.ts';
import { MalformedJson } from '../protocol/json.ts';
import { shortened } from '../protocol/rejection.ts';
import { bearerToken, callerKey, callerOf, claimsOf, tokenHash } from './caller.ts';
import { checkBodyHeaders, checkPath, type Invocation, isContinue, readInvocation, receiveBody } from './contract.ts';
import { Failure, failureFrom } from './failure.ts';
import type { Invoke, Route } from './invoke.ts';
import { type ConcurrencyLimits, createAcceptedTokens } from './limits.ts';
import type { MethodResult } from './methodResponse.ts';

interface RequestHandlerOptions {
  readonly backends: Pick<MethodBackends, 'readObject'>;
  readonly invoke: Invoke;
  readonly limits: ConcurrencyLimits;
  readonly invocations: InvocationRecords;
  readonly log: Pick<LogLines, 'error'>;
}

/** Time-out of all look-ups before the call to the hub (M6). */
const lookUpSeconds = 10;
/** Characters of an object's path in the log: the information model may give it tens of thousands. */
const maxLoggedPath = 256;
export type RequestHandler = ReturnType<typeof createRequestHandler>;

export function createRequestHandler({ backends, invoke, limits, invocations, log }: RequestHandlerOptions) {
  const aborted = new AbortController();
  const accepted = createAcceptedTokens();
  /** Requests without a log line yet, the oldest first. */
  const open = new Set<InvocationObservation>();
  let isStopping = false;
  const ended = createCondition();

  /** Checks whether the caller may invoke, and then what the headers say of the body, before it is read (M2, D43). */
  async function authorize({ headers }: IncomingMessage, observation: InvocationObservation, deadline: Deadline) {
    if (isStopping) throw new Failure('stopping', 'this front door is stopping; repeat it at once');
    const { fields } = observation;
    const { correlationId, objectId, model } = fields;
    const token = bearerToken(headers.authorization);
    checkPath(fields);
    const hash = tokenHash(token);
    const isKnown = accepted.has(hash);
    const release = limits.acquireLookUp(isKnown);
    const askedAt = performance.now();
    const reading = backends.readObject(objectId, model, { token, isKnown, correlationId, observation, deadline });
    const result = await deadline.unlessCancelled(reading).finally(release);
    if (result.kind === 'unavailable') {
      const detail = `the information model ${result.problem}; nothing was invoked, repeat it later`;
      throw new Failure('backend_unavailable', detail, { retryAfter: result.retryAfter });
    }
    if (result.kind === 'refused') {
      if (result.status === 401) accepted.delete(hash);
      const [reason, detail] = refusals[result.status];
      throw new Failure(reason, detail);
    }
    accepted.set(hash, true);
    const lookUpMs = performance.now() - askedAt;
    const claims = claimsOf(token);
    fields.caller = callerOf(claims);
    const route = routeOf(result.object.path);
    fields.device = shortened(route.device, maxLoggedPath);
    if (route.target !== '') fields.target = shortened(route.target, maxLoggedPath);
    observation.routed(route.device, lookUpMs);
    checkBodyHeaders(headers);
    return { object: result.object, route, claims, caller: callerKey(claims, hash) };
  }

  /** The body, within limits of number, size and time (M14). */
  async function receive(request: IncomingMessage, response: ServerResponse, caller: string): Promise<Invocation> {
    let release: (() => void) | undefined;
    try {
      if (!request.complete) release = limits.acquireBody(caller);
      return readInvocation(await receiveBody(request, aborted.signal));
    } catch (error) {
      // The caller may send more, or something else than it means to.
      if (!request.readableEnded || error instanceof MalformedJson) response.setHeader('connection', 'close');
      throw error;
    } finally {
      release?.();
    }
  }

  return {
    isStopping: () => isStopping,
    requests: (): Iterable<InvocationObservation> => open,
    inProgress: () => open.size,
    stop() {
      isStopping = true;
    },
    /** Resolves when each request has its log line. */
    async idle() {
      while (open.size > 0) await ended.change();
    },
    /** Ends what is in progress before the call to the hub; the callers learn that nothing was invoked. */
    abort: () => aborted.abort(),

    /** One request: authorized, received, invoked. Its body is not read before the caller is known (M2). @throws Failure */
    async handle(fields: RequestFields, request: IncomingMessage, response: ServerResponse): Promise<MethodResult> {
      const observation = invocations.begin(fields, request.headers['traceparent']);
      open.add(observation);
      let isWorking = true;
      let release = () => {};
      let failure: Failure | undefined;

      /** When the response is closed and the work has ended, even if the caller has disconnected. */
      function end() {
        if (isWorking || !(response.closed || socket.destroyed) || !open.delete(observation)) return;
        socket.off('close', end);
        observation.ended(response.writableFinished ? response.statusCode : undefined, failure);
        release();
        ended.changed();
      }
      response.once('close', end);
      // Node 20 does not close the responses that wait behind the first one of their connection.
      const { socket } = request;
      socket.setMaxListeners(0).once('close', end);
      try {
        const deadline = createDeadline(lookUpSeconds, aborted.signal);
        const { object, route, claims, caller } = await authorize(request, observation, deadline);
        if (isContinue(request.headers.expect)) response.writeContinue();
        const invocation = await deadline.untimed(receive(request, response, caller));
        release = limits.acquireInvocation(route.device, caller);
        return await invoke({ observation, object, route, claims, deadline }, invocation);
      } catch (error) {
        failure = failureFrom(error, fields.correlationId, log);
        throw failure;
      } finally {
        isWorking = false;
        end();
      }
    },
  };
}

const refusals = {
  401: ['unauthorized', 'the information model does not accept the token; get a new one'],
  403: ['forbidden', 'the caller may not invoke methods of this object'],
  404: ['object_not_found', 'the caller has no object model with this object id and model'],
} as const;

/** Splits the path of an object into the device, which is the first segment, and the target (M5). @throws Failure no_owner, invalid_path */
export function routeOf(path: string | undefined): Route {
  if (!path) throw new Failure('no_owner', 'no device owns this object model; a device must claim it first');
  // The hub's client would resolve . and .. in a URL.
  if (!pathForm.safeParse(path).success) {
    const detail =
      'the path of this object model has an empty, . or .. segment, or control characters; nothing was invoked, have it claimed again';
    throw new Failure('invalid_path', detail, { invoked: 'no' });
  }
  const [device = '', ...target] = path.split('/');
  return { device, target: target.join('/') };
}
