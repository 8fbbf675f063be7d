import { forbidden, notFound } from '../http/problem.ts';
import type { Caller } from '../principalManager/caller.ts';
import type { Principal } from '../principalManager/principals.ts';
import type { TypeVersion } from '../typeRegistry/types.ts';

/** Whose an object model is: set by its creation or by a claim, kept when the identity is deleted. */
export interface Owner {
  readonly id: string;
  /** Device id, then the connectivity path. P5 */
  readonly path: string;
}

/** One version of an object model; an update makes a new one. */
export interface ObjectModel {
  readonly tenant: string;
  readonly objectId: string;
  readonly model: string;
  readonly name?: string;
  readonly type: TypeVersion;
  /** Raw JSON text of an object, as it was sent. */
  readonly properties: string;
  /** Raw JSON text of an object, as it was sent. */
  readonly variables: string;
  readonly version: number;
  readonly owner?: Owner;
}

export const ownerOf = ({ id, path }: Principal): Owner => ({ id, path });

/** Id of the device whose subtree the owner is in. */
export const ownerDevice = ({ path }: Owner): string => path.split('/', 1)[0] ?? '';

/** An object model as it is answered; `related` is the raw text of `relatedModels`, where the answer has them. */
export function printObject(object: ObjectModel, related?: string): string {
  const { name, objectId, model, type, properties, variables, version, owner } = object;
  const parts = [
    name === undefined ? '' : `"name":${JSON.stringify(name)},`,
    `"objectId":"${objectId}","model":${JSON.stringify(model)},"type":${JSON.stringify(type.ref)},`,
    `"properties":${properties},"variables":${variables},"version":${version}`,
    owner ? `,"ownerId":"${owner.id}","path":${JSON.stringify(owner.path)}` : '',
    related === undefined ? '' : `,"relatedModels":${related}`,
  ];
  return `{${parts.join('')}}`;
}

/** A device reads what is owned in its own subtree, and what nobody in its tenant owns. */
export const isReadable = ({ owner }: ObjectModel, { deviceId }: Caller): boolean =>
  owner === undefined || ownerDevice(owner) === deviceId;

/** Refuses what is not there (404) and what belongs to another device (403). */
export function readable(object: ObjectModel | undefined, caller: Caller, what = 'the object model'): ObjectModel {
  if (!object) throw notFound(what);
  if (!isReadable(object, caller)) throw forbidden(`${what} belongs to another device`);
  return object;
}

/** As `readable`; refuses also what has no owner yet (403): it must be claimed first. */
export function writable(object: ObjectModel | undefined, caller: Caller): ObjectModel {
  const found = readable(object, caller);
  if (!found.owner) throw forbidden('the object model has no owner; claim it before changing it');
  return found;
}
