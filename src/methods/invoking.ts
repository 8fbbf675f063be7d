import { randomUUID } from 'node:crypto';
import type { Invocable } from '../backends/callersModel.ts';
import { Abandoned, createDeadline, type Deadline } from '../backends/deadline.ts';
import type { MethodBackends } from '../backends/methodBackends.ts';
import type { DirectAnswer, DirectMethods } from '../hub/methods/directMethods.ts';
import type { HubFailure } from '../hub/methods/hubError.ts';
import { parseTypeRef } from '../protocol/fields.ts';
import { type MethodResult, maxPayloadBytes, readAnswer } from './answer.ts';
import type { Fields } from './course.ts';
import { Failure, type Reason } from './failure.ts';
import type { FileInputs } from './fileInputs.ts';
import { checkInputs } from './inputs.ts';
import { type Invocation, timeoutRange } from './schemas.ts';

/** Where an invocation goes (M5). */
export interface Route {
  readonly device: string;
  /** Connectivity path below it; empty: the device itself. */
  readonly target: string;
}

/** An invocation of somebody who may invoke. */
export interface Admitted {
  readonly fields: Fields;
  readonly route: Route;
  /** Type reference of the object. */
  readonly type: string;
  /** Of the caller's token. */
  readonly claims: Readonly<Record<string, unknown>>;
  readonly traceparent: string;
  /** For all that is looked up before the hub is called. */
  readonly deadline: Deadline;
}

/** @throws Failure, Rejection or Abandoned */
export type Invoke = (admitted: Admitted, body: Invocation) => Promise<MethodResult>;

interface InvokeOptions {
  readonly backends: Pick<MethodBackends, 'declarationOf'>;
  readonly directMethods: DirectMethods;
  readonly observe: (answer: DirectAnswer) => void;
  readonly fileInputs: FileInputs;
  /** Identity of the edge proxy on the device; empty: the device itself. */
  readonly edgeModule: string;
}

/**
 * The first segment of the object's path is the device, the rest the target (M5).
 * @throws Failure no_owner
 */
export function routeOf({ path }: Pick<Invocable, 'path'>): Route {
  const [device = '', ...target] = path?.split('/') ?? [];
  if (device === '') {
    const detail = 'nobody owns this object model, so there is no device to ask; a device must claim it first';
    throw new Failure('no_owner', detail);
  }
  return { device, target: target.join('/') };
}

/** From an admitted request to the method's answer: declaration, inputs, files, payload, hub (M4 to M7). */
export function createInvoke(options: InvokeOptions): Invoke {
  const { backends, directMethods, observe, fileInputs, edgeModule } = options;

  async function declarationOf({ fields, route, type, traceparent, deadline }: Admitted) {
    const { correlationId, model, method } = fields;
    const out = new AbortController();
    const call = {
      deviceId: route.device,
      correlationId,
      traceparent,
      deadline: createDeadline(deadline.remaining() / 1000, out.signal),
      onOutage: () => out.abort(), // callers are told at once (M2)
      idempotencySeed: randomUUID(),
    };
    const ref = parseTypeRef(type);
    try {
      const looking = ref && backends.declarationOf(call, model, ref, method);
      const declared = looking && (await deadline.race(looking, 'the type registry'));
      if (declared !== undefined) return declared;
    } catch (error) {
      if (!out.signal.aborted || !(error instanceof Abandoned)) throw error;
      const detail = 'the type registry is out; nothing was invoked, repeat it later';
      throw new Failure('backend_unavailable', detail, { retryAfter: 5 });
    }
    const detail = 'neither the type of this object nor its base types declare this method';
    throw new Failure('method_not_found', detail);
  }

  return async (admitted, body) => {
    const { fields, route, claims, deadline } = admitted;
    const { correlationId, objectId, model, method } = fields;
    const { input = {}, timeout = timeoutRange.usual } = body;
    fields.timeout = timeout;
    const { inputs } = await declarationOf(admitted);
    checkInputs(input, inputs);
    const files = await fileInputs({ input, inputs, claims, timeout, deadline });
    const { device, target } = route;
    const payload = {
      ...{ correlationId, objectId, model, target, method, timeout },
      ...(inputs !== undefined && { input }),
      ...(files !== undefined && { files }),
    };
    const bytes = Buffer.byteLength(JSON.stringify(payload));
    if (bytes > maxPayloadBytes) {
      const detail = `the payload for the device has ${bytes} bytes, at most ${maxPayloadBytes} are allowed; give less input`;
      throw new Failure('too_large', detail);
    }
    deadline.check();
    const began = performance.now();
    const answer = await directMethods.invoke({ device, module: edgeModule, payload, timeoutSeconds: timeout });
    fields.hubMs = Math.round(performance.now() - began);
    observe(answer);
    if (answer.kind === 'failure') {
      if (answer.status !== undefined) fields.hubStatus = answer.status;
      if (answer.code !== undefined) fields.errorCode = answer.code;
      throw failureOf(answer);
    }
    const result = readAnswer(answer.status, answer.payload);
    fields.methodStatus = result.status;
    return result;
  };
}

/** What each failure of the hub means to the caller (M8). */
const meanings: Readonly<Record<HubFailure, readonly [Reason, string, retryAfter?: number]>> = {
  device_offline: [
    'device_offline',
    'the device is not connected, or does not listen to methods; nothing was invoked, unless it went away in this very moment',
  ],
  device_gone: [
    'outcome_unknown',
    'the device went away during the call; the method may have run, or still be running',
  ],
  device_unknown: [
    'device_unknown',
    'the hub does not know the device, or has it disabled; nothing was invoked until somebody registers or enables it',
  ],
  throttled: [
    'throttled',
    'the hub has too much to do, in all or for this device; nothing was invoked, repeat it later',
    5,
  ],
  quota: [
    'throttled',
    'the hub has used up its quota of today; nothing was invoked, repeat it after midnight UTC',
    3600,
  ],
  refused: [
    'hub_refuses_us',
    'the hub refuses the front door; nothing was invoked, and its operator has been alerted',
    60,
  ],
  unavailable: ['hub_unavailable', 'the hub cannot be reached or is out; nothing was invoked, repeat it later', 5],
  too_large: ['too_large', 'the hub takes no payload of this size; give less input'],
  bad_reply: ['bad_reply', 'the device does not answer as it should; the method may have run'],
  no_reply: ['no_reply', 'the device did not answer in time; the method may have run, or still be running'],
  outcome_unknown: [
    'outcome_unknown',
    'the hub broke off before it had an answer; the method may have run, or still be running',
  ],
  invalid: [
    'internal_error',
    'the hub finds the invocation invalid, which is the front door’s fault: tell its operator',
  ],
};

function failureOf({ failure, retryAfter: asked }: Extract<DirectAnswer, { kind: 'failure' }>): Failure {
  const [reason, detail, retryAfter] = meanings[failure];
  return new Failure(reason, detail, { retryAfter: retryAfter === undefined ? undefined : (asked ?? retryAfter) });
}
