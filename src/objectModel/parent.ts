import type { BoundBackends } from '../backends/backends.ts';
import {
  attributesOf,
  hasTrue,
  isMarked,
  isNamed,
  objectOf,
  ofReference,
  type Reference,
  targetOf,
} from '../backends/informationModel.ts';
import { type Json, keysOf, memberOf, parseJson, pickSmall, withMember, withReplaced } from '../protocol/json.ts';
import { Rejection } from '../protocol/rejection.ts';
import type { MessageLimits } from '../settings/constants.ts';

type Source = Readonly<Record<'objectId' | 'model', string>>;
type Limits = Pick<MessageLimits, 'maxReferences'>;

/**
 * Creates the reference from a model to its parent of the same model id, with the attribute `isParent`, which grants no rights (A9).
 * @throws Rejection when the model has another parent, or the information model refuses
 */
export async function linkParent(
  child: Source,
  parent: { readonly objectId: string; readonly reference: string },
  { informationModel }: BoundBackends,
  limits: Limits,
): Promise<undefined> {
  const hasName = isNamed(new Set([parent.reference]));
  const leadsTo = objectOf(child.model);
  let [isOtherMarked, isNameTaken] = [false, false];
  let existing: Reference | undefined;
  await eachStored(child, informationModel, limits, (reference) => {
    const hasSameName = hasName(reference);
    if (hasSameName && leadsTo(reference)?.toLowerCase() === parent.objectId.toLowerCase()) existing ??= reference;
    else {
      isNameTaken ||= hasSameName;
      isOtherMarked ||= isMarked(reference, parentMark);
    }
  });
  if (existing && isMarked(existing, parentMark)) return;
  if (isOtherMarked) throw unchangeable('body.parent differs from the parent that the model has');
  if (isNameTaken)
    throw unchangeable('body.parent differs from the target of the reference of that name that the model has');
  const name = JSON.stringify(parent.reference);
  const to = JSON.stringify({ objectId: parent.objectId, model: child.model });
  const attributes = marked(existing ? attributesOf(existing, parentMark) : parseJson('{}'));
  const body = `[{"name":${name},"to":${to},"attributes":${attributes}}]`;
  await informationModel.addReferences(child.objectId, child.model, body);
}

/** The information model takes no more with one request. */
const mostWritten = 1_000;

/**
 * The references that a device writes, so that the parent stays what it is: its reference keeps `isParent`, and no other gets it (A9). The
 * stored ones are read only if one with attributes leads to a model of the same id, as a parent's does.
 * @param sent the body; what the information model refuses is left to it: no array, or too many references
 */
export async function keepingParent(source: Source, sent: Json, { informationModel }: BoundBackends, limits: Limits) {
  let [count, mayConcernParent] = [0, false];
  withReplaced(sent, ofReference, (reference) => {
    count += 1;
    const to = targetOf(reference);
    const mayBeParent = () => to.twice.size > 0 || pickSmall(to, ['model']).model === source.model;
    mayConcernParent ||= reference.members.has('attributes') && (reference.twice.size > 0 || mayBeParent());
    return undefined;
  });
  if (!mayConcernParent || count > mostWritten) return sent.text;

  const parents = new Set<string>();
  await eachStored(source, informationModel, limits, (reference) => {
    if (isMarked(reference, parentMark)) parents.add(identityOf(reference, targetOf(reference)));
  });
  let index = -1;
  return withReplaced(sent, ofReference, (reference) => {
    index += 1;
    if (!reference.members.has('attributes')) return undefined;
    checkOnce(reference, `body[${index}]`);
    const attributes = memberOf(reference, 'attributes', parentMark);
    if (!attributes?.isObject) return undefined;
    const to = targetOf(reference);
    checkOnce(to, `body[${index}].to`);
    checkOnce(attributes, `body[${index}].attributes`);
    const identity = identityOf(reference, to);
    const isParent = hasTrue(attributes);
    if (isParent && !parents.has(identity)) {
      if (parents.size > 0)
        throw unchangeable(`body[${index}].attributes.isParent is for the parent that the model has`);
      parents.add(identity);
    }
    return !isParent && parents.has(identity) ? { part: attributes, text: marked(attributes) } : undefined;
  });
}

async function eachStored(
  { objectId, model }: Source,
  informationModel: BoundBackends['informationModel'],
  { maxReferences }: Limits,
  take: (reference: Reference) => void,
): Promise<void> {
  let references = 0;
  await informationModel.references(objectId, model, (reference) => {
    references += 1;
    if (references > maxReferences)
      throw new Rejection('response_too_large', `the object model has more than ${maxReferences} references`);
    take(reference);
  });
}

const parentMark = keysOf(['isParent']);

const marked = (attributes: Json): string => withMember(attributes, 'isParent', 'true');

/** R5 */
function checkOnce({ twice }: Json, path: string): void {
  for (const key of twice) throw new Rejection('validation_error', `${path}.${key} occurs twice`);
}

/** Name and target (A13). Too long ones are those of no reference. */
function identityOf(reference: Reference, to: Json): string {
  const { objectId, model } = pickSmall(to, ['objectId', 'model']);
  return JSON.stringify([pickSmall(reference, ['name']).name, String(objectId).toLowerCase(), model]);
}

const unchangeable = (why: string) =>
  new Rejection('http_response_error', `${why}: changing the parent is not supported`);
