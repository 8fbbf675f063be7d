import { randomUUID } from 'node:crypto';
import { conflict, invalid } from '../requests/problem.ts';

/** A device's identity: the root of its tree, or an identity connected through it. */
export interface Principal {
  readonly id: string;
  /** One name, unique within the parent, never split. The root's is the device id. */
  readonly identity: string;
  /** Device id of the tree's root. */
  readonly device: string;
  readonly tenant: string;
  /** Null for the root. */
  readonly parentId: string | null;
  /** Device id, then the connectivity path, joined by `/`. P5 */
  readonly path: string;
  /** What updates have set (`publicKey` and whatever else a device sends): name → raw JSON text. */
  readonly attributes: ReadonlyMap<string, string>;
}

export type PrincipalChange =
  | ({ readonly kind: 'principal'; readonly attributes: readonly (readonly [string, string])[] } & Omit<
      Principal,
      'attributes'
    >)
  | { readonly kind: 'principal-deleted'; readonly id: string };

/** Refuses what cannot be a segment of a path (400). P5 */
export function checkName(name: string, what: string): string {
  const hasControl = Array.from(name).some((c) => c < ' ' || c === '\u007f');
  if (name === '' || name === '.' || name === '..' || name.includes('/') || hasControl || name.length > 256) {
    throw invalid(`${what} is not a valid name`);
  }
  return name;
}

const childKey = (parentId: string, identity: string): string => JSON.stringify([parentId, identity]);

/** The identities of all tenants: one tree per directly connected device. */
export function createPrincipals(record: (change: PrincipalChange) => void) {
  const byId = new Map<string, Principal>();
  const roots = new Map<string, Principal>();
  const children = new Map<string, Principal>();
  const childCount = new Map<string, number>();

  function insert(principal: Principal): void {
    if (!byId.has(principal.id) && principal.parentId !== null) {
      childCount.set(principal.parentId, (childCount.get(principal.parentId) ?? 0) + 1);
    }
    byId.set(principal.id, principal);
    if (principal.parentId === null) roots.set(principal.device, principal);
    else children.set(childKey(principal.parentId, principal.identity), principal);
  }

  function removeFromIndexes(principal: Principal): void {
    byId.delete(principal.id);
    if (principal.parentId === null) roots.delete(principal.device);
    else {
      children.delete(childKey(principal.parentId, principal.identity));
      childCount.set(principal.parentId, (childCount.get(principal.parentId) ?? 1) - 1);
    }
  }

  function put(principal: Principal): Principal {
    insert(principal);
    record({ kind: 'principal', ...principal, attributes: [...principal.attributes] });
    return principal;
  }

  const principals = {
    get: (id: string): Principal | undefined => byId.get(id),
    /** The root of a device's tree. */
    device: (deviceId: string): Principal | undefined => roots.get(deviceId),
    child: (parent: Principal, identity: string): Principal | undefined => children.get(childKey(parent.id, identity)),
    hasChildren: (principal: Principal): boolean => (childCount.get(principal.id) ?? 0) > 0,
    list: (): Principal[] => [...byId.values()],

    /** Bootstraps a directly connected device; device ids are unique across tenants (409). */
    createDevice(deviceId: string, tenant: string, id: string = randomUUID()): Principal {
      checkName(deviceId, 'deviceId');
      checkName(tenant, 'tenant');
      if (roots.has(deviceId)) throw conflict('Already exists', 'the device exists already');
      const root = { id, identity: deviceId, device: deviceId, tenant, parentId: null, path: deviceId };
      return put({ ...root, attributes: new Map() });
    },
    /** Connects an identity below `parent`; identities are unique within their parent (409). */
    connect(parent: Principal, identity: string, id: string = randomUUID()): Principal {
      checkName(identity, 'identity');
      if (principals.child(parent, identity)) throw conflict('Already exists', 'the parent has that identity already');
      const { device, tenant } = parent;
      const path = `${parent.path}/${identity}`;
      return put({ id, identity, device, tenant, parentId: parent.id, path, attributes: new Map() });
    },
    /** Sets attributes; null removes one, those not named stay. */
    update(principal: Principal, changes: ReadonlyMap<string, string>): Principal {
      const attributes = new Map([...principal.attributes, ...changes]);
      for (const [name, raw] of changes) if (raw === 'null') attributes.delete(name);
      return put({ ...principal, attributes });
    },
    remove(principal: Principal): void {
      removeFromIndexes(principal);
      record({ kind: 'principal-deleted', id: principal.id });
    },

    restore(change: PrincipalChange): void {
      if (change.kind === 'principal') {
        const { kind: _, ...principal } = change;
        insert({ ...principal, attributes: new Map(change.attributes) });
      } else {
        const removed = byId.get(change.id);
        if (removed) removeFromIndexes(removed);
      }
    },
    dump: (): PrincipalChange[] =>
      principals
        .list()
        .map((principal) => ({ kind: 'principal', ...principal, attributes: [...principal.attributes] })),
    clear(): void {
      for (const map of [byId, roots, children, childCount]) map.clear();
    },
  };
  return principals;
}

export type Principals = ReturnType<typeof createPrincipals>;
