import type { BoundBackends } from '../backends/backends.ts';
import { Rejection } from '../rejection.ts';

/**
 * Keeps the reference from a model to its parent, within the same model id, marked by the attribute `isParent` (A9).
 * It serves users only: it grants nothing.
 * @throws Rejection when the model has another parent already, or the information model refuses
 */
export async function linkParent(
  child: { readonly objectId: string; readonly model: string },
  parent: { readonly objectId: string; readonly name: string },
  { informationModel }: BoundBackends,
): Promise<void> {
  const references = (await informationModel.references(child.objectId, child.model)) ?? [];
  const existing = references.find(({ attributes }) => attributes['isParent'] === true);
  if (existing === undefined) {
    const to = { objectId: parent.objectId, model: child.model };
    const reference = { name: parent.name, to, attributes: { isParent: true } };
    await informationModel.addReferences(child.objectId, child.model, JSON.stringify([reference]));
    return;
  }
  const isSame =
    existing.name === parent.name &&
    existing.to.objectId.toLowerCase() === parent.objectId.toLowerCase() &&
    existing.to.model === child.model;
  if (!isSame) {
    throw new Rejection(
      'http_response_error',
      'body.parent differs from the parent that the model has: changing the parent is not supported',
    );
  }
}
