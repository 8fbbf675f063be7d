import { isDeepStrictEqual } from 'node:util';
import { isObject, isWith, membersOf } from './body.ts';
import { ask, Failure, type Handling, orFail } from './steps.ts';

/** The principal of a device, of a path below it, or of a name below that (A1, A7). */
export function* identityOf(deviceId: string, path: string, identity?: string): Handling<string> {
  const query = { device: deviceId, ...(path && { path }), ...(identity !== undefined && { identity }) };
  const answer = orFail(yield* ask({ method: 'GET', path: ['devices'], query }, { isKnown: true }));
  const [found] = JSON.parse(answer.body).data;
  if (found === undefined) throw new Failure('http_response_error', ['identity']);
  return found.id;
}

interface Link {
  readonly name: string;
  readonly to: { readonly objectId: string; readonly model: string };
  readonly attributes?: { readonly isParent?: boolean };
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
    const present: readonly Link[] = JSON.parse(answer.body).data;
    const isIt = ({ name, to }: Link) =>
      name === parent['reference'] && to.objectId === parent['objectId'] && to.model === model;
    const isOther = (one: Link) =>
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

/** A9: references with attributes to a model of the same id leave the parent what it is. Answers those that are written, unless they are those that were sent. */
export function* keepParent(path: readonly string[], sent: unknown): Handling<unknown> {
  const mayBeParent = (one: unknown) =>
    isObject(one) && 'attributes' in one && isObject(one['to']) && one['to']['model'] === path[3];
  if (!Array.isArray(sent) || !sent.some(mayBeParent)) return undefined;
  const answer = yield* ask({ method: 'GET', path });
  const present: readonly Link[] = answer.status === 404 ? [] : JSON.parse(orFail(answer).body).data;
  const nameOf = ({ name, to }: Link) => JSON.stringify([name, to.objectId.toLowerCase(), to.model]);
  const parents = new Set(present.filter(({ attributes }) => attributes?.isParent === true).map(nameOf));
  const whole = sent.map((one: Link) => {
    if (!isObject(one.attributes)) return one;
    if (parents.has(nameOf(one))) return { ...one, attributes: { ...one.attributes, isParent: true } };
    if (one.attributes['isParent'] !== true) return one;
    if (parents.size > 0) throw new Failure('http_response_error', ['isParent']);
    parents.add(nameOf(one));
    return one;
  });
  return isDeepStrictEqual(whole, sent) ? undefined : whole;
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
