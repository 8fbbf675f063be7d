import type { BoundBackends } from '../backends/backends.ts';
import type { Reference } from '../backends/informationModel.ts';
import { parseJson, valueIn, withMember } from '../protocol/json.ts';
import { Rejection } from '../protocol/rejection.ts';

/**
 * Creates the reference from a model to its parent of the same model id, with the attribute `isParent` (A9). It is for
 * users only and grants no rights.
 * @throws Rejection when the model has another parent, or the information model refuses
 */
export async function linkParent(
  child: { readonly objectId: string; readonly model: string },
  parent: { readonly objectId: string; readonly name: string },
  { informationModel }: BoundBackends,
): Promise<void> {
  const references = (await informationModel.references(child.objectId, child.model)) ?? [];
  const isWanted = ({ name, to }: Reference) =>
    name === parent.name && to.objectId.toLowerCase() === parent.objectId.toLowerCase() && to.model === child.model;
  const existing = references.find(isWanted);
  if (existing && isMarked(existing)) return;

  const others = references.filter((one) => !isWanted(one));
  if (others.some(isMarked)) {
    throw unchangeable('body.parent differs from the parent that the model has');
  }
  if (others.some(({ name }) => name === parent.name)) {
    throw unchangeable('body.parent differs from the target of the reference of that name that the model has');
  }
  const name = JSON.stringify(parent.name);
  const to = JSON.stringify({ objectId: parent.objectId, model: child.model });
  const attributes = withMember(existing?.attributes ?? parseJson('{}'), 'isParent', 'true'); // R5
  const body = `[{"name":${name},"to":${to},"attributes":${attributes}}]`;
  await informationModel.addReferences(child.objectId, child.model, body);
}

const isMarked = ({ attributes }: Reference): boolean => valueIn(attributes, 'isParent') === true;

const unchangeable = (why: string) =>
  new Rejection('http_response_error', `${why}: changing the parent is not supported`);
