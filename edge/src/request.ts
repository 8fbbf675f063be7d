import type { Invocation } from './invocation.ts';
import type { Match } from './matching.ts';

/** What is published to a module. */
export interface Request {
  readonly topic: string;
  readonly payload: Buffer;
}

/**
 * `{in}/{method}/{requestId}` with the inputs for the owner of the object, `{in}/$proxy/{requestId}` for a gateway (M10).
 * @param names of files, which take the place of the inputs
 */
export function requestOf(
  { objectId, method, input }: Invocation,
  { module, isGateway }: Match,
  requestId: string,
  names: Readonly<Record<string, string>> = {},
): Request {
  const given = input && { ...input, ...names };
  const body = isGateway ? { objectId, method, ...(given && { input: given }) } : given;
  return {
    topic: `${module.topics_methods_in}/${isGateway ? '$proxy' : method}/${requestId}`,
    payload: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
  };
}
