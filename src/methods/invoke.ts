import type { MethodBackends } from '../backends/backends.ts';
import type { DirectMethodResult, DirectMethods } from '../hub/methods/directMethods.ts';
import type { AuthorizedRequest } from './authorizedRequest.ts';
import { declarationFor } from './declaration.ts';
import { Failure } from './failure.ts';
import type { FileInputs } from './fileInputs.ts';
import { failureFromHub } from './hubErrorMessages.ts';
import { checkInputs } from './inputs.ts';
import { type MethodResult, maxPayloadBytes, readMethodResponse } from './methodResponse.ts';
import { roundedInputs } from './requestBody.ts';
import { type Invocation, timeoutRange } from './schemas.ts';

/** @throws Failure, Rejection or Abandoned */
export type Invoke = (request: AuthorizedRequest, body: Invocation) => Promise<MethodResult>;

interface InvokeOptions {
  readonly backends: Pick<MethodBackends, 'lineageOf'>;
  readonly directMethods: DirectMethods;
  readonly recordOutcome: (result: DirectMethodResult) => void;
  readonly fileInputs: FileInputs;
  /** Module identity of the edge proxy; empty: the device itself. */
  readonly edgeModule: string;
}

/** From an authorized request to the method's result: declaration, inputs, files, payload, hub (M4 to M7). */
export function createInvoke(options: InvokeOptions): Invoke {
  const { backends, directMethods, recordOutcome, fileInputs, edgeModule } = options;

  return async (request, body) => {
    const { course, objectId, route, claims, deadline } = request;
    const { fields, span } = course;
    const { correlationId, model, method } = fields;
    const { input = {}, timeout = timeoutRange.default } = body;
    fields.timeout = timeout;
    course.decoded(body);
    const { inputs } = await declarationFor(request, backends);
    checkInputs(input, inputs, roundedInputs(body));
    const signed = fileInputs({ input, inputs, claims, timeout, deadline, span });
    const files = await course.waitsFor('sign the files', 'file storage', signed);
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
      const detail = `the payload for the device has ${bytes} bytes, at most ${maxPayloadBytes} are allowed; reduce the input`;
      throw new Failure('too_large', detail);
    }
    deadline.check();
    const call = { device, module: edgeModule, payload, timeoutSeconds: timeout };
    const result = await course.call(call, directMethods.invoke);
    recordOutcome(result);
    if (result.kind === 'failure') throw failureFromHub(result);
    const methodResult = readMethodResponse(result);
    fields.methodStatus = methodResult.status;
    return methodResult;
  };
}
