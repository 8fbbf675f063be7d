import { conflict, forbidden, notFound } from '../requests/problem.ts';

/** The owner of an object model: set by its creation or by a claim; it stays when the identity is deleted. */
export interface Owner {
  readonly id: string;
  /** Device id, then the connectivity path. P5 */
  readonly path: string;
}

export interface Ownable {
  readonly owner?: Owner;
}

/** The directly connected device that calls. */
export interface Device {
  readonly deviceId: string;
  readonly tenant: string;
}

interface Identity {
  readonly tenant: string;
  /** Id of the device that it is connected through. */
  readonly device: string;
}

const isWithin = ({ path }: Owner, deviceId: string): boolean => path.split('/', 1)[0] === deviceId;

/** A device reads object models that are owned in its own subtree, and those of its tenant that have no owner. */
export const isReadable = ({ owner }: Ownable, { deviceId }: Device): boolean =>
  owner === undefined || isWithin(owner, deviceId);

/** Refuses what is not there (404) and what belongs to another device (403). */
export function readable<T extends Ownable>(object: T | undefined, device: Device, what = 'the object model'): T {
  if (!object) throw notFound(what);
  if (!isReadable(object, device)) throw forbidden(`${what} belongs to another device`);
  return object;
}

/** As `readable`; refuses also what has no owner yet (403): it must be claimed first. */
export function writable<T extends Ownable>(object: T | undefined, device: Device): T {
  const found = readable(object, device);
  if (!found.owner) throw forbidden('the object model has no owner; claim it before changing it');
  return found;
}

/** Refuses an identity that is not there or is of another tenant (404), or is connected through another device (403). */
export function ownIdentity<T extends Identity>(identity: T | undefined, device: Device, what: string): T {
  if (!identity || identity.tenant !== device.tenant) throw notFound(what);
  if (identity.device !== device.deviceId) throw forbidden(`${what} is connected through another device`);
  return identity;
}

/**
 * Whether a claim for an identity of the device changes the owner. An owner stays (409 for another one), unless its identity
 * is gone and was one of the device's own.
 */
export function isNewOwner(
  owner: Owner | undefined,
  claimantId: string,
  { deviceId }: Device,
  exists: (id: string) => boolean,
): boolean {
  if (owner?.id === claimantId) return false;
  if (!owner || (isWithin(owner, deviceId) && !exists(owner.id))) return true;
  throw conflict('Owned by another', 'the object model is owned by another identity');
}
