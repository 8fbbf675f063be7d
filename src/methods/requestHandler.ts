import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Cancelled, createDeadline, type Deadline } from '../backends/deadline.ts';
import type { MethodBackends } from '../backends/methodBackends.ts';
import type { InvocableObject } from '../backends/objectForCaller.ts';
import type { RequestFields } from '../observing/invocationFields.ts';
import type { InvocationCourse, InvocationRecords } from '../observing/invocationRecords.ts';
import { Rejection, shortened } from '../protocol/rejection.ts';
import { createAcceptedTokens } from './acceptedTokens.ts';
import type { AuthorizedRequest } from './authorizedRequest.ts';
import { bearerToken, callerKey, callerOf, claimsOf, tokenHash } from './bearer.ts';
import type { ConcurrencyLimits } from './concurrencyLimits.ts';
import { Failure } from './failure.ts';
import type { Invoke } from './invoke.ts';
import type { MethodResult } from './methodResponse.ts';
import { receiveBody } from './receiveBody.ts';
import { checkBodyHeaders, checkPath } from './requestChecks.ts';
import { createRequestEnd } from './requestEnd.ts';
import { routeOf } from './route.ts';
import type { Invocation } from './schemas.ts';

/** One request. Each function is called once, in this order. */
export interface InvocationRequest {
  /**
   * Checks whether the caller may invoke, and then what the headers say of the body, before it is read (M2, D43).
   * @throws Failure
   */
  authorize(headers: IncomingHttpHeaders): Promise<void>;
  /**
   * The body, within limits of number, size and time (M14).
   * @throws Failure
   */
  receive(body: IncomingMessage): Promise<Buffer>;
  /** @throws Failure */
  invoke(body: Invocation): Promise<MethodResult>;
  failed(failure: Failure): void;
  /** @param status of the response; undefined when the caller disconnected before it was sent */
  closed(status: number | undefined): void;
}

/** From a request of the HTTP interface to the call to the hub. */
export interface RequestHandler {
  /** @param traceparent of the caller */
  begin(fields: RequestFields, traceparent?: string | readonly string[]): InvocationRequest;
  isStopping(): boolean;
  /** For operators: the requests without a log line yet, the oldest first. */
  requests(): Iterable<InvocationCourse>;
  /** Requests without a log line yet. */
  inProgress(): number;
  /** Refuses new requests. */
  stop(): void;
  /** Resolves when each request has its log line. */
  idle(): Promise<void>;
  /** Ends what is in progress before the call to the hub; the callers learn that nothing was invoked. */
  abort(): void;
}

/** What is known of a request whose caller may invoke. */
interface Authorized {
  readonly request: Omit<AuthorizedRequest, 'deadline'>;
  /** For limits (M14). */
  readonly caller: string;
  /** What is left for look-ups when the body has arrived. */
  readonly lookUpMs: number;
}

interface CallersToken {
  readonly token: string;
  readonly hash: string;
  /** The information model has recently accepted it. */
  readonly isKnown: boolean;
}

interface RequestHandlerOptions {
  readonly backends: Pick<MethodBackends, 'readObject'>;
  readonly invoke: Invoke;
  readonly concurrency: ConcurrencyLimits;
  readonly invocations: InvocationRecords;
}

/** Time-out of all look-ups before the call to the hub (M6). */
const lookUpSeconds = 10;
/** Characters of an object's path in the log: the information model may give it tens of thousands. */
const maxLoggedPath = 256;

export function createRequestHandler({
  backends,
  invoke,
  concurrency,
  invocations,
}: RequestHandlerOptions): RequestHandler {
  const aborted = new AbortController();
  const accepted = createAcceptedTokens();
  let isStopping = false;
  const open = new Set<InvocationCourse>();
  let onIdle = () => {};

  async function objectFor(
    { token, hash, isKnown }: CallersToken,
    course: InvocationCourse,
    deadline: Deadline,
  ): Promise<InvocableObject> {
    const { correlationId, objectId, model } = course.fields;
    const caller = { token, isKnown, correlationId, course, deadline };
    const result = await deadline.unlessCancelled(backends.readObject(objectId, model, caller));
    switch (result.kind) {
      case 'object':
        accepted.add(hash);
        return result.object;
      case 'unavailable': {
        const detail = `the information model ${result.problem}; nothing was invoked, repeat it later`;
        throw new Failure('backend_unavailable', detail, { retryAfter: result.retryAfter });
      }
      case 'refused': {
        const [reason, detail] = refusals[result.status];
        if (reason === 'unauthorized') accepted.delete(hash);
        throw new Failure(reason, detail);
      }
    }
  }

  return {
    isStopping: () => isStopping,
    requests: () => open,
    inProgress: () => open.size,
    stop() {
      isStopping = true;
    },
    idle: () =>
      new Promise((resolve) => {
        onIdle = resolve;
        if (open.size === 0) resolve();
      }),
    abort: () => aborted.abort(),

    begin(fields, traceparent) {
      let release = () => {};
      const course = invocations.begin(fields, traceparent);
      open.add(course);
      const end = createRequestEnd((status, failure) => {
        course.ended(status, failure);
        release();
        open.delete(course);
        if (open.size === 0) onIdle();
      });
      const lookUpDeadline = createDeadline(lookUpSeconds, aborted.signal);
      let authorized: Authorized | undefined;

      function passed(): Authorized {
        if (authorized === undefined) throw new Error('the request is not authorized');
        return authorized;
      }

      async function authorize(headers: IncomingHttpHeaders) {
        if (isStopping) {
          throw new Failure('stopping', 'this front door is stopping; repeat it at once');
        }
        const token = bearerToken(headers.authorization);
        checkPath(fields);
        const hash = tokenHash(token);
        const isKnown = accepted.has(hash);
        release = concurrency.acquireLookUp(isKnown);
        const askedAt = performance.now();
        const object = await objectFor({ token, hash, isKnown }, course, lookUpDeadline);
        const lookUpMs = performance.now() - askedAt;
        release();
        const claims = claimsOf(token);
        fields.caller = callerOf(claims);
        const route = routeOf(object.path);
        fields.device = shortened(route.device, maxLoggedPath);
        if (route.target !== '') fields.target = shortened(route.target, maxLoggedPath);
        course.routed(route.device, lookUpMs);
        checkBodyHeaders(headers);
        authorized = {
          request: { course, objectId: object.objectId, route, type: object.type, claims },
          caller: callerKey(claims, hash),
          lookUpMs: lookUpDeadline.remaining(),
        };
      }

      async function receive(body: IncomingMessage) {
        const { caller } = passed();
        const received = body.complete ? () => {} : concurrency.acquireBody(caller);
        try {
          return await receiveBody(body, aborted.signal);
        } finally {
          received();
        }
      }

      async function invokeWith(body: Invocation) {
        const { request, caller, lookUpMs } = passed();
        release = concurrency.acquireInvocation(request.route.device, caller);
        return invoke({ ...request, deadline: createDeadline(lookUpMs / 1000, aborted.signal) }, body);
      }

      return {
        authorize: (headers) => end.track(() => withFailures(() => authorize(headers))),
        receive: (body) => end.track(() => withFailures(() => receive(body))),
        invoke: (body) => end.track(() => withFailures(() => invokeWith(body))),
        failed: end.failed,
        closed: end.closed,
      };
    },
  };
}

const refusals = {
  401: ['unauthorized', 'the information model does not accept the token; get a new one'],
  403: ['forbidden', 'the caller may not invoke methods of this object'],
  404: ['object_not_found', 'the caller has no object model with this object id and model'],
} as const;

/** Turns errors of look-ups, after which nothing was invoked, into failures. */
async function withFailures<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Cancelled) {
      const detail = 'this front door is stopping; nothing was invoked, repeat it at once';
      throw new Failure('stopping', detail);
    }
    if (!(error instanceof Rejection)) throw error;
    const detail = 'a look-up for the invocation failed; nothing was invoked, repeat it later';
    throw new Failure('backend_unavailable', detail, { fields: { cause: error.details } });
  }
}
