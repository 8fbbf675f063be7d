import { type Body, readNested, readObjects } from '../http/body.ts';
import { invalid } from '../http/problem.ts';
import type { Answer, Call } from '../http/routes.ts';
import type { World } from '../world/world.ts';
import { isReadable, type ObjectModel, readable, writable } from './objectModel.ts';
import { printReference, type Reference } from './referenceStore.ts';
import { addressed } from './update.ts';

/** A request brings at most this many references. */
const MOST_REFERENCES = 1000;

const listing = (references: readonly Reference[]): string => `{"data":[${references.map(printReference).join(',')}]}`;

/** A reference of the request, checked against source, target and their types; attributes that are absent stay. A9 */
function readReference(world: World, { caller }: Call, source: ObjectModel, body: Body, path: string): Reference {
  const name = body.required('name');
  const to = readNested(body.object('to') ?? '{}', `${path}.to`);
  const wanted = { objectId: to.required('objectId'), model: to.required('model') };
  const target = readable(
    world.objects.get(caller.tenant, wanted.objectId, wanted.model),
    caller,
    `the target of ${path}`,
  );
  const sent = body.object('attributes');
  const isParent = sent !== undefined && readNested(sent, `${path}.attributes`).members.get('isParent') === 'true';
  const declaring = isParent ? target.type : source.type;
  if (!declaring.references.has(name)) {
    throw invalid(`${path}.name is not a reference of the ${isParent ? "parent's" : "object model's"} type`);
  }
  const reference = { name, to: { objectId: target.objectId, model: target.model }, attributes: sent ?? '{}' };
  const known = sent === undefined ? world.objects.references.find(source, reference) : undefined;
  return known ?? reference;
}

/** `POST …/references/out`: creates or updates all references of the request, or none. */
export function writeReferences(world: World, call: Call): Answer {
  const source = writable(addressed(world, call), call.caller);
  const bodies = readObjects(call.text);
  if (bodies.length > MOST_REFERENCES) throw invalid(`the body has more than ${MOST_REFERENCES} references`);
  const references = bodies.map((body, i) => readReference(world, call, source, body, `$[${i}]`));
  const created = references.filter((reference) => world.objects.references.put(source, reference));
  return { status: created.length > 0 ? 201 : 200, body: listing(references) };
}

/** `GET …/references/out`: targets that have become another device's are left out. */
export function readReferences(world: World, call: Call): Answer {
  const { caller } = call;
  const source = readable(addressed(world, call), caller);
  const visible = world.objects.references.out(source).filter(({ to }) => {
    const target = world.objects.get(caller.tenant, to.objectId, to.model);
    return target !== undefined && isReadable(target, caller);
  });
  return { status: 200, body: listing(visible) };
}
