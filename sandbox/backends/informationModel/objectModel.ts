import type { Principal } from '../principalManager/principals.ts';
import type { Ownable, Owner } from '../rules/ownership.ts';
import type { TypeVersion } from '../typeRegistry/types.ts';

/** One version of an object model; an update makes a new one. */
export interface ObjectModel extends Ownable {
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
}

export const ownerOf = ({ id, path }: Principal): Owner => ({ id, path });

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
