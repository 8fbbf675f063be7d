import type { Invocation } from '../hub/invocation.ts';
import type { Route } from './routing.ts';

/** An MQTT message to a module. */
interface Request {
  readonly topic: string;
  readonly payload: Buffer;
}

/**
 * `{in}/{method}/{requestId}` with the inputs for the owner of the object, `{in}/$proxy/{requestId}` for a gateway (M10).
 * @param fileNames replace the values of inputs that are files
 */
export function requestFor(
  { objectId, method, input }: Invocation,
  { module, isGateway }: Route,
  requestId: string,
  fileNames: Readonly<Record<string, string>> = {},
): Request {
  const inputs = input && { ...input, ...fileNames };
  const body = isGateway ? { objectId, method, ...(inputs && { input: inputs }) } : inputs;
  return {
    topic: `${module.topics_methods_in}/${isGateway ? '$proxy' : method}/${requestId}`,
    payload: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
  };
}
