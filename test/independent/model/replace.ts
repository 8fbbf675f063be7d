import { isWith, membersOf } from './body.ts';
import { ask, Failure, type Handling, orFail } from './steps.ts';

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
