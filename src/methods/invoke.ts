import { statusValue } from 'telemetry/meter.ts';
import type { MethodBackends } from '../backends/methodBackends.ts';
import type { DirectMethodResult, DirectMethods } from '../hub/methods/directMethods.ts';
import { type Meter, noMeter } from '../metrics/meter.ts';
import { asStep } from '../tap/steps.ts';
import type { AuthorizedRequest } from './authorizedRequest.ts';
import { declarationFor } from './declaration.ts';
import { Failure } from './failure.ts';
import type { FileInputs } from './fileInputs.ts';
import { failureFromHub } from './hubErrorMessages.ts';
import { checkInputs } from './inputs.ts';
import { type MethodResult, maxPayloadBytes, readMethodResponse } from './methodResponse.ts';
import { roundedInputs } from './requestBody.ts';
import { beginMethod, endMethod } from './requestSpan.ts';
import { type Invocation, timeoutRange } from './schemas.ts';
import { invokeAsStep, tellDecoded } from './told.ts';

/** @throws Failure, Rejection or Abandoned */
export type Invoke = (request: AuthorizedRequest, body: Invocation) => Promise<MethodResult>;

interface InvokeOptions {
  readonly backends: Pick<MethodBackends, 'lineageOf'>;
  readonly directMethods: DirectMethods;
  readonly recordOutcome: (result: DirectMethodResult) => void;
  readonly fileInputs: FileInputs;
  /** Module identity of the edge proxy; empty: the device itself. */
  readonly edgeModule: string;
  readonly meter?: Meter;
  /** For spans. */
  readonly hubHost: string;
}

/** From an authorized request to the method's result: declaration, inputs, files, payload, hub (M4 to M7). */
export function createInvoke(options: InvokeOptions): Invoke {
  const { backends, directMethods, recordOutcome, fileInputs, edgeModule, hubHost, meter = noMeter } = options;
  const record = meter.histogram('rpc.client.call.duration');

  return async (request, body) => {
    const { fields, objectId, route, claims, trace, steps, deadline } = request;
    const { correlationId, model, method } = fields;
    const { input = {}, timeout = timeoutRange.default } = body;
    fields.timeout = timeout;
    if (steps.tell) tellDecoded(steps.tell, body);
    const { inputs } = await declarationFor(request, backends);
    checkInputs(input, inputs, roundedInputs(body));
    const signed = fileInputs({ input, inputs, claims, timeout, deadline, span: trace.span });
    const files = await asStep(steps, 'sign the files', 'file storage', signed);
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
    const sentAt = performance.now();
    const span = beginMethod(trace, hubHost, device);
    const call = { device, module: edgeModule, payload, timeoutSeconds: timeout };
    const result = await invokeAsStep(directMethods, call, method, steps);
    const ms = performance.now() - sentAt;
    endMethod(span, result);
    if (result.kind === 'response') record(ms / 1000, '200', '');
    else record(ms / 1000, result.status === undefined ? '' : statusValue(result.status), result.failure);
    fields.hubMs = Math.round(ms);
    recordOutcome(result);
    if (result.kind === 'failure') {
      if (result.status !== undefined) fields.hubStatus = result.status;
      if (result.code !== undefined) fields.errorCode = result.code;
      throw failureFromHub(result);
    }
    const methodResult = readMethodResponse(result);
    fields.methodStatus = methodResult.status;
    return methodResult;
  };
}
