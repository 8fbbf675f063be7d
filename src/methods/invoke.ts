import { randomUUID } from 'node:crypto';
import { nearest } from '@device-messaging/telemetry/text.ts';
import type { MethodBackends } from '../backends/backends.ts';
import type { Deadline } from '../backends/deadline.ts';
import type { InvocableObject } from '../backends/objectOnBehalf.ts';
import { type DeclaredInputs, inputsIn, type Lineage } from '../backends/typeRegistry.ts';
import type { DirectMethodResult, DirectMethods } from '../hub/methods/directMethods.ts';
import type { InvocationObservation } from '../observing/invocationRecords.ts';
import { parseTypeRef } from '../protocol/fields.ts';
import { listed, quoted } from '../protocol/rejection.ts';
import { type Invocation, timeoutRange } from './contract.ts';
import { Failure, failureFromHub } from './failure.ts';
import { type FileInputs, fileNameProblem } from './fileInputs.ts';
import { type MethodResult, maxPayloadBytes, readMethodResponse } from './methodResponse.ts';

/** The receiver of an invocation (M5): `target` is the connectivity path below the device; empty: the device itself. */
export type Route = { readonly device: string; readonly target: string };

/** `claims` are those of the caller's token; `deadline` is for all look-ups before the call to the hub. */
export interface AuthorizedRequest {
  readonly observation: InvocationObservation;
  readonly object: Pick<InvocableObject, 'objectId' | 'type'>;
  readonly route: Route;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly deadline: Deadline;
}

export type Invoke = ReturnType<typeof createInvoke>;

interface InvokeOptions {
  readonly backends: Pick<MethodBackends, 'lineageOf'>;
  readonly directMethods: DirectMethods;
  readonly recordOutcome: (result: DirectMethodResult) => void;
  readonly fileInputs: FileInputs;
  /** Module identity of the edge proxy; empty: the device itself. */
  readonly edgeModule: string;
}

/** From an authorized request to the method's result: declaration, inputs, files, payload, hub (M4 to M7). */
export function createInvoke({ backends, directMethods, recordOutcome, fileInputs, edgeModule }: InvokeOptions) {
  return async (request: AuthorizedRequest, body: Invocation): Promise<MethodResult> => {
    const { observation, route, claims, deadline } = request;
    const { objectId } = request.object;
    const { fields, span } = observation;
    const { correlationId, model, method } = fields;
    const { input = {}, timeout = timeoutRange.default } = body;
    fields.timeout = timeout;
    observation.decoded(body);
    const inputs = await declaredInputs(request, backends);
    checkInputs(body, inputs);
    const signed = fileInputs({ input, inputs, claims, timeout, deadline, span });
    const files = await observation.waitsFor('sign the files', 'file storage', signed);
    const { device, target } = route;
    const payload = {
      ...{ correlationId, objectId, model, target, method, timeout },
      ...(inputs.size > 0 && { input }),
      ...(files !== undefined && { files }),
    };
    const bytes = Buffer.byteLength(JSON.stringify(payload));
    if (bytes > maxPayloadBytes) {
      const detail = `the payload for the device has ${bytes} bytes, at most ${maxPayloadBytes} are allowed; reduce the input`;
      throw new Failure('too_large', detail);
    }
    deadline.check();
    const call = { device, module: edgeModule, payload, timeoutSeconds: timeout };
    const result = await observation.call(call, directMethods.invoke);
    recordOutcome(result);
    if (result.kind === 'failure') throw failureFromHub(result);
    const methodResult = readMethodResponse(result);
    fields.methodStatus = methodResult.status;
    return methodResult;
  };
}

/** From the type registry (M4). @throws Failure type_not_found, method_not_found, backend_unavailable; Rejection; Cancelled */
async function declaredInputs(request: AuthorizedRequest, backends: Pick<MethodBackends, 'lineageOf'>) {
  const { observation, object, route, deadline } = request;
  const { type } = object;
  const { correlationId, model, method } = observation.fields;
  const call = {
    ...{ deviceId: route.device, correlationId, deadline, observation, idempotencySeed: randomUUID() },
    onOutage() {
      const detail = 'the type registry is unavailable; nothing was invoked, repeat it later';
      throw new Failure('backend_unavailable', detail); // at once instead of waiting for the backend (M2)
    },
  };
  const ref = parseTypeRef(type);
  const lineage = ref && (await deadline.race(backends.lineageOf(call, model, ref), 'the type registry'));
  if (lineage === undefined || lineage.types.length === 0) {
    throw new Failure('type_not_found', `the type registry does not know ${quoted(type)}, the type of this object`);
  }
  const inputs = inputsIn(lineage, method);
  if (inputs !== undefined) return inputs;
  throw new Failure('method_not_found', notDeclared(type, method, lineage));
}

const mostNames = 200;

function notDeclared(type: string, method: string, { types, unknown }: Lineage): string {
  const names = types.flatMap(({ methods }) => [...methods.keys()]).slice(0, mostNames);
  const isSame = (name: string) => name.toLowerCase() === method.toLowerCase();
  const meant = names.find(isSame) ?? nearest(method, names, Math.ceil(method.length / 3));
  const [missing] = unknown;
  return [
    `neither the type ${quoted(type)} of this object nor its base types declare the method ${quoted(method)}`,
    ...(meant === undefined ? [] : [`did you mean ${quoted(meant)}?`]),
    ...(missing === undefined ? [] : [`the type registry does not know the base type ${quoted(missing)}`]),
  ].join('; ');
}

const wholeNumber = 'must be an integer within ±(2^53−1)';

/** Why a value does not fit a data type, as the end of a sentence; undefined when it does (M4). */
const checks: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  string: (value) => (typeof value === 'string' ? undefined : 'must be a string'),
  integer: (value) => (Number.isSafeInteger(value) ? undefined : wholeNumber),
  number: (value) => (Number.isFinite(value) ? undefined : 'must be a number'),
  boolean: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  file: fileNameProblem,
};

/** Checks the input against the declaration of the method (M4). Other data types pass. @throws Failure invalid_request that names up to ten inputs */
function checkInputs({ input = {}, rounded }: Invocation, declared: DeclaredInputs): void {
  const problems = Object.entries(input).flatMap(([name, value]) => {
    const dataType = declared.get(name);
    if (dataType === undefined) return [`input ${quoted(name)} is not declared by the method`];
    const check = Object.hasOwn(checks, dataType) ? checks[dataType] : undefined;
    const problem = dataType === 'integer' && rounded?.has(name) ? wholeNumber : check?.(value);
    return problem === undefined ? [] : [`input ${quoted(name)} ${problem}`];
  });
  if (problems.length > 0) throw new Failure('invalid_request', listed(problems));
}
