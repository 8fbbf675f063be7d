import { isDeepStrictEqual } from 'node:util';
import { isWith, membersOf } from './body.ts';
import { ask, Failure, type Handling, orFail } from './steps.ts';

/** The principal of a device, of a path below it, or of a name below that (A1, A7). */
export function* identityOf(deviceId: string, path: string, identity?: string): Handling<string> {
  const query = { device: deviceId, ...(path && { path }), ...(identity !== undefined && { identity }) };
  const answer = orFail(yield* ask({ method: 'GET', path: ['devices'], query }, { isKnown: true }));
  const [found] = JSON.parse(answer.body).data;
  if (found === undefined) throw new Failure('http_response_error', ['identity']);
  return found.id;
}

/** A9: the reference to the parent, which is made once and never changed. Answers why it failed. */
export function* connectParent(
  objectId: string,
  model: string,
  parent: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, unknown>>,
): Handling<Failure | undefined> {
  const path = ['objects', objectId, 'models', model, 'references', 'out'];
  try {
    const answer = orFail(yield* ask({ method: 'GET', path }), fields);
    const present: { name: string; to: { objectId: string; model: string }; attributes?: { isParent?: boolean } }[] =
      JSON.parse(answer.body).data;
    const isIt = ({ name, to }: (typeof present)[number]) =>
      name === parent['reference'] && to.objectId === parent['objectId'] && to.model === model;
    const isOther = (one: (typeof present)[number]) =>
      !isIt(one) && (one.name === parent['reference'] || one.attributes?.isParent === true);
    if (present.some(isOther)) return new Failure('http_response_error', ['parent'], fields);
    if (present.some((one) => isIt(one) && one.attributes?.isParent === true)) return undefined;
    const to = { objectId: parent['objectId'], model };
    // One that is there already keeps what else it says.
    const attributes = { ...present.find(isIt)?.attributes, isParent: true };
    const whole = [{ name: parent['reference'], to, attributes }];
    const body = (sent: string) => isDeepStrictEqual(JSON.parse(sent), whole);
    orFail(yield* ask({ method: 'POST', path, body }), fields);
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

/** A4: the version that is stored afterwards. */
export function* replace(objectId: string, model: string, text: string, invalid: string): Handling<number> {
  const path = ['objects', objectId, 'models', model];
  const { version } = membersOf(text);
  const first = yield* ask({ method: 'PUT', path, body: text });
  if (first.status !== 409 || !Number.isInteger(version)) return versionOf(orFail(first).body);
  const wanted = Number(version);
  let stored = versionOf(orFail(yield* ask({ method: 'GET', path })).body);
  if (stored >= wanted) throw new Failure('http_response_error', ['ersion']);
  if (wanted - stored > 100) throw new Failure(invalid, ['version', '100']);
  while (stored <= wanted) {
    const body = isWith('version', stored, text);
    stored = versionOf(orFail(yield* ask({ method: 'PUT', path, body })).body);
  }
  return stored;
}

const versionOf = (body: string): number => Number(membersOf(body)['version']);
