import { type Body, readNested, readObjects } from '../requests/body.ts';
import { invalid } from '../requests/problem.ts';
import type { Answer, Call } from '../routes/route.ts';
import { isReadable, readable, writable } from '../rules/ownership.ts';
import { checkDeclared, type Reference } from '../rules/references.ts';
import type { ObjectModel } from './objectModel.ts';
import { printReference } from './referenceStore.ts';
import type { Stores } from './stores.ts';
import { addressed } from './update.ts';

/** A request brings at most this many references. */
const MOST_REFERENCES = 1000;

const listing = (references: readonly Reference[]): string => `{"data":[${references.map(printReference).join(',')}]}`;

/** A reference of the request, checked against source, target and their types; attributes that are absent stay. A9 */
function readReference(
  { objects }: Stores,
  { caller }: Call,
  source: ObjectModel,
  body: Body,
  path: string,
): Reference {
  const name = body.required('name');
  const to = readNested(body.object('to') ?? '{}', `${path}.to`);
  const found = objects.get(caller.tenant, to.required('objectId'), to.required('model'));
  const target = readable(found, caller, `the target of ${path}`);
  const sent = body.object('attributes');
  const isParent = sent !== undefined && readNested(sent, `${path}.attributes`).members.get('isParent') === 'true';
  checkDeclared(name, isParent, { source: source.type, target: target.type }, path);
  const reference = { name, to: { objectId: target.objectId, model: target.model }, attributes: sent ?? '{}' };
  const known = sent === undefined ? objects.references.find(source, reference) : undefined;
  return known ?? reference;
}

/** `POST …/references/out`: creates or updates all references of the request, or none. */
export function writeReferences(stores: Stores, call: Call): Answer {
  const source = writable(addressed(stores, call), call.caller);
  const bodies = readObjects(call.text);
  if (bodies.length > MOST_REFERENCES) throw invalid(`the body has more than ${MOST_REFERENCES} references`);
  const references = bodies.map((body, i) => readReference(stores, call, source, body, `$[${i}]`));
  const created = references.filter((reference) => stores.objects.references.put(source, reference));
  return { status: created.length > 0 ? 201 : 200, body: listing(references) };
}

/** `GET …/references/out`: targets that have become another device's are left out. */
export function readReferences(stores: Stores, call: Call): Answer {
  const { caller } = call;
  const source = readable(addressed(stores, call), caller);
  const visible = stores.objects.references.out(source).filter(({ to }) => {
    const target = stores.objects.get(caller.tenant, to.objectId, to.model);
    return target !== undefined && isReadable(target, caller);
  });
  return { status: 200, body: listing(visible) };
}
