import { randomUUID } from 'node:crypto';
import { Cancelled, createDeadline } from '../backends/deadline.ts';
import type { MethodBackends } from '../backends/methodBackends.ts';
import { declarationIn, type Lineage, type MethodDeclaration } from '../backends/methodDeclarations.ts';
import { parseTypeRef } from '../protocol/fields.ts';
import { quoted } from '../protocol/rejection.ts';
import { nearest } from '../text/nearest.ts';
import type { AuthorizedRequest } from './authorizedRequest.ts';
import { Failure } from './failure.ts';

/**
 * The declaration of the method that is invoked, from the type registry (M4).
 * @throws Failure type_not_found, method_not_found, backend_unavailable
 * @throws Rejection, Abandoned
 */
export async function declarationFor(
  request: AuthorizedRequest,
  backends: Pick<MethodBackends, 'lineageOf'>,
): Promise<MethodDeclaration> {
  const { type } = request;
  const { method } = request.course.fields;
  const lineage = await lineageFor(request, backends);
  if (lineage === undefined || lineage.types.length === 0) {
    throw new Failure('type_not_found', `the type registry does not know ${quoted(type)}, the type of this object`);
  }
  const declaration = declarationIn(lineage, method);
  if (declaration === undefined) throw new Failure('method_not_found', notDeclared(type, method, lineage));
  return declaration;
}

/** Undefined when the object has no valid reference to a type. */
async function lineageFor(
  { course, route, type, deadline }: AuthorizedRequest,
  backends: Pick<MethodBackends, 'lineageOf'>,
): Promise<Lineage | undefined> {
  const ref = parseTypeRef(type);
  if (ref === undefined) return undefined;
  const { correlationId, model } = course.fields;
  const outage = new AbortController();
  const call = {
    deviceId: route.device,
    correlationId,
    deadline: createDeadline(deadline.remaining() / 1000, outage.signal),
    onOutage: () => outage.abort(), // fail at once instead of waiting for the backend (M2)
    idempotencySeed: randomUUID(),
    course,
  };
  try {
    return await deadline.race(backends.lineageOf(call, model, ref), 'the type registry');
  } catch (error) {
    if (!outage.signal.aborted || !(error instanceof Cancelled)) throw error;
    const detail = 'the type registry is unavailable; nothing was invoked, repeat it later';
    throw new Failure('backend_unavailable', detail);
  }
}

/** Most names that a misspelt one is compared with. */
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
