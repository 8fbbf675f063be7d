import type { BoundBackends } from '../backends/backends.ts';
import { attributesOf, isMarked, isNamed, objectOf, type Reference } from '../backends/reference.ts';
import { keysOf, parseJson, withMember } from '../protocol/json.ts';
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
  { maxReferences }: { readonly maxReferences: number },
): Promise<void> {
  const hasName = isNamed(new Set([parent.name]));
  const leadsTo = objectOf(child.model);
  let [references, isOtherMarked, isNameTaken] = [0, false, false];
  let existing: Reference | undefined;
  await informationModel.references(child.objectId, child.model, (reference) => {
    references += 1;
    if (references > maxReferences) {
      throw new Rejection('response_too_large', `the object model has more than ${maxReferences} references`);
    }
    const hasSameName = hasName(reference);
    if (hasSameName && leadsTo(reference)?.toLowerCase() === parent.objectId.toLowerCase()) existing ??= reference;
    else {
      isNameTaken ||= hasSameName;
      isOtherMarked ||= isMarked(reference, parentMark);
    }
  });
  if (existing && isMarked(existing, parentMark)) return;
  if (isOtherMarked) throw unchangeable('body.parent differs from the parent that the model has');
  if (isNameTaken) {
    throw unchangeable('body.parent differs from the target of the reference of that name that the model has');
  }
  const name = JSON.stringify(parent.name);
  const to = JSON.stringify({ objectId: parent.objectId, model: child.model });
  const attributes = withMember(existing ? attributesOf(existing, parentMark) : parseJson('{}'), 'isParent', 'true'); // R5
  const body = `[{"name":${name},"to":${to},"attributes":${attributes}}]`;
  await informationModel.addReferences(child.objectId, child.model, body);
}

const parentMark = keysOf(['isParent']);

const unchangeable = (why: string) =>
  new Rejection('http_response_error', `${why}: changing the parent is not supported`);
