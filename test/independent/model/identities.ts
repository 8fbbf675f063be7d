import { ask, Failure, type Handling, orFail } from './steps.ts';

/** The principal of a device, of a path below it, or of a name below that (A1, A7). */
export function* identityOf(deviceId: string, path: string, identity?: string): Handling<string> {
  const query = { device: deviceId, ...(path && { path }), ...(identity !== undefined && { identity }) };
  const answer = orFail(yield* ask({ method: 'GET', path: ['devices'], query }, { isKnown: true }));
  const [found] = JSON.parse(answer.body).data;
  if (found === undefined) throw new Failure('http_response_error', ['identity']);
  return found.id;
}
