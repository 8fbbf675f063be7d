import type { IncomingHttpHeaders } from 'node:http';
import type { Invocable } from '../backends/callersModel.ts';
import { Abandoned, createDeadline, type Deadline } from '../backends/deadline.ts';
import type { MethodBackends } from '../backends/methodBackends.ts';
import type { Log } from '../log.ts';
import { Rejection } from '../rejection.ts';
import type { MethodResult } from './answer.ts';
import { bearerToken, callerOf, claimsOf } from './bearer.ts';
import { createCourse, type Fields } from './course.ts';
import { Failure } from './failure.ts';
import { checkMediaType, checkPath } from './header.ts';
import type { Admitted, Invoke } from './invoking.ts';
import type { Room } from './room.ts';
import { routeOf } from './route.ts';
import type { Invocation } from './schemas.ts';
import { traceOf } from './trace.ts';

/** One request, from its header to its answer. Each verb is called once, in this order. */
export interface Asked {
  /**
   * Finds out whether the caller may invoke, before the body is read (M2).
   * @throws Failure
   */
  admit(headers: IncomingHttpHeaders): Promise<void>;
  /** @throws Failure */
  invoke(body: Invocation): Promise<MethodResult>;
  failed(failure: Failure): void;
  /** @param status that was answered; undefined when the caller had gone before */
  closed(status: number | undefined): void;
}

/** What stands between the HTTP interface and the hub. */
export interface Door {
  ask(fields: Fields): Asked;
  isStopping(): boolean;
  /** Takes no more requests. */
  stop(): void;
  /** Resolves when each request has its line in the log. */
  emptied(): Promise<void>;
  /** Ends look-ups in work: the callers learn that nothing was invoked. */
  breakOff(): void;
}

interface DoorOptions {
  readonly backends: Pick<MethodBackends, 'readObject'>;
  readonly invoke: Invoke;
  readonly room: Room;
  readonly log: Log;
}

/** All that is looked up before the hub is called may take so long (M6). */
const lookUpSeconds = 10;
const retryAfter = 5;

/** Who may invoke, on what, and whether there is room. */
export function createDoor({ backends, invoke, room, log }: DoorOptions): Door {
  const broken = new AbortController();
  let isStopping = false;
  let open = 0;
  let onEmpty = () => {};

  async function objectFor(token: string, fields: Fields, deadline: Deadline, traceparent: string): Promise<Invocable> {
    const { correlationId, objectId, model } = fields;
    const answer = await backends.readObject(objectId, model, { token, correlationId, traceparent, deadline });
    switch (answer.kind) {
      case 'object':
        return answer.object;
      case 'out': {
        const detail = `the information model ${answer.why}; nothing was invoked, repeat it later`;
        throw new Failure('backend_unavailable', detail, { retryAfter });
      }
      default:
        throw new Failure(refusals[answer.status].reason, refusals[answer.status].detail, { words: answer.words });
    }
  }

  return {
    isStopping: () => isStopping,
    stop() {
      isStopping = true;
    },
    emptied: () =>
      new Promise((resolve) => {
        onEmpty = resolve;
        if (open === 0) resolve();
      }),
    breakOff: () => broken.abort(),

    ask(fields) {
      let leave = () => {};
      open += 1;
      const course = createCourse(fields, log, () => {
        leave();
        open -= 1;
        if (open === 0) onEmpty();
      });
      const deadline = createDeadline(lookUpSeconds, broken.signal);
      let admitted: Admitted | undefined;

      async function admit(headers: IncomingHttpHeaders) {
        if (isStopping) throw new Failure('stopping', 'this front door stops; repeat it at once', { retryAfter: 1 });
        const token = bearerToken(headers.authorization);
        checkPath(fields);
        checkMediaType(headers);
        leave = room.arrive();
        const traceparent = traceOf(headers['traceparent']);
        const object = await objectFor(token, fields, deadline, traceparent);
        const claims = claimsOf(token);
        fields.caller = callerOf(claims);
        const route = routeOf(object.path);
        fields.device = route.device;
        if (route.target !== '') fields.target = route.target;
        const arrival = leave;
        leave = room.begin(route.device);
        arrival();
        admitted = { fields, route, type: object.type, claims, traceparent, deadline };
      }

      return {
        admit: (headers) => course.working(() => translating(() => admit(headers))),
        async invoke(body) {
          const ready = admitted;
          if (ready === undefined) throw new Error('an invocation that was not admitted');
          return course.working(() => translating(() => invoke(ready, body)));
        },
        failed: course.failed,
        closed: course.closed,
      };
    },
  };
}

const refusals = {
  401: {
    reason: 'unauthorized',
    detail: 'the information model does not accept the token; get a new one',
  },
  403: {
    reason: 'forbidden',
    detail: 'the caller of this token may not invoke methods of this object',
  },
  404: {
    reason: 'object_not_found',
    detail: 'the caller of this token has no object model of this object id and model',
  },
} as const;

/** A look-up that failed has invoked nothing. */
async function translating<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Abandoned) {
      throw new Failure('stopping', 'this front door stops; nothing was invoked, repeat it at once', { retryAfter: 1 });
    }
    if (!(error instanceof Rejection)) throw error;
    const detail = `what the invocation needs to know could not be looked up; nothing was invoked, repeat it later`;
    throw new Failure('backend_unavailable', detail, { retryAfter, fields: { cause: error.details } });
  }
}
