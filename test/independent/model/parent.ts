import { isDeepStrictEqual } from 'node:util';
import { ask, Failure, type Handling, orFail } from './steps.ts';

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
