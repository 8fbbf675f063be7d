import { randomUUID } from 'node:crypto';
import { Abandoned, createDeadline, type Deadline } from '../backends/deadline.ts';
import type { MethodBackends } from '../backends/methodBackends.ts';
import type { DirectAnswer, DirectMethods } from '../hub/methods/directMethods.ts';
import { parseTypeRef } from '../protocol/fields.ts';
import { type MethodResult, maxPayloadBytes, readAnswer } from './answer.ts';
import type { Fields } from './course.ts';
import { Failure } from './failure.ts';
import type { FileInputs } from './fileInputs.ts';
import { failureOfHub } from './hubFailure.ts';
import { checkInputs } from './inputs.ts';
import type { Route } from './route.ts';
import { type Invocation, timeoutRange } from './schemas.ts';

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
      correlationId,
      objectId,
      model,
      target,
      method,
      timeout,
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
      throw failureOfHub(answer);
    }
    const result = readAnswer(answer.status, answer.payload);
    fields.methodStatus = result.status;
    return result;
  };
}
