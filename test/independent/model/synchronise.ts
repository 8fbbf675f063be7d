import { type Addressed, notify } from './notifications.ts';
import { ask, Failure, type Handling, orFail } from './steps.ts';

/** A10 and the rules of fetching: reads what is asked for, then notifies of each model that was found. */
export function* synchronise(
  objectId: string,
  model: string,
  options: ReturnType<typeof readOptions>,
  to: Addressed,
): Handling {
  const { hierarchical, contained, recursive, references, related } = options;
  const follows = hierarchical || contained || references.length > 0;
  const found: string[] = [];
  const seen = new Set<string>();

  function* read(id: string, of: string, isRoot = false): Handling<boolean> {
    if (seen.has(`${id}/${of}`)) return true;
    seen.add(`${id}/${of}`);
    const answer = yield* ask({ method: 'GET', path: ['objects', id, 'models', of] }, { isUnordered: !isRoot });
    if (answer.status === 404) {
      if (isRoot) throw new Failure('http_response_error', ['object model']);
      return false;
    }
    found.push(orFail(answer).body);
    return true;
  }

  function* readAll(id: string, isRoot: boolean): Handling {
    const isNew = !seen.has(`${id}/${model}`);
    if (!isNew) return;
    if (!(yield* read(id, model, isRoot))) return;
    for (const other of related) yield* read(id, other);
    if (!follows || (!isRoot && !recursive)) return;
    const path = ['objects', id, 'models', model, 'references', 'out'];
    const answer = orFail(yield* ask({ method: 'GET', path }, { isUnordered: true }));
    for (const { name, to: child, attributes = {} } of JSON.parse(answer.body).data) {
      const isFollowed = hierarchical || (contained ? attributes.isContained === true : references.includes(name));
      if (isFollowed && child.model === model) yield* readAll(child.objectId, false);
    }
  }

  yield* readAll(objectId, true);
  const large = found.filter((text) => Buffer.byteLength(text) > 65_000);
  for (const text of found) yield* notify(to, 'Updated', text, true);
  if (large.length > 0) throw new Failure('response_too_large');
}

/** Only `true` and what is not empty counts. */
export function readOptions(options: Readonly<Record<string, unknown>>, invalid: string) {
  const flag = (name: string): boolean => {
    const value = options[name] ?? false;
    if (typeof value !== 'boolean') throw new Failure(invalid, [name]);
    return value;
  };
  const list = (name: string): string[] => {
    const value = options[name] ?? [];
    if (!Array.isArray(value) || value.some((one) => one !== null && typeof one !== 'string'))
      throw new Failure(invalid, [name]);
    return value.filter((one) => one !== null);
  };
  const read = {
    hierarchical: flag('hierarchical'),
    contained: flag('contained'),
    recursive: flag('recursive'),
    references: list('references'),
    related: list('related'),
  };
  const { hierarchical, contained, recursive, references } = read;
  const ways = [hierarchical, contained, references.length > 0].filter(Boolean).length;
  if (ways > 1 || (recursive && (hierarchical || contained))) throw new Failure(invalid);
  return read;
}
