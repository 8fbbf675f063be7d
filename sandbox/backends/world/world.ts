import { createObjects } from '../informationModel/objects.ts';
import type { Stores } from '../informationModel/stores.ts';
import { createPrincipals } from '../principalManager/principals.ts';
import { createTypes } from '../typeRegistry/types.ts';
import { parseTypeRef } from '../typeRegistry/version.ts';
import { createIdempotency, type Idempotency } from './idempotency.ts';
import { seed } from './seed.ts';
import { type Change, createStorage } from './storage.ts';

/** Everything the backends know. Readers see each call's changes whole: calls are handled one after the other. */
export interface World extends Stores {
  readonly idempotency: Idempotency;
  /** Names of the tenants that have a device. */
  readonly tenants: ReadonlySet<string>;
  /** Writes the changes since the last commit to disk, if the world is stored there. */
  commit(): void;
  /** Back to the beginning: the example world, or an empty one. */
  reset(): void;
  close(): void;
}

/**
 * Opens the world that is stored in `directory`, or a new one: with the example world when `isSeeded`. Without a directory it
 * lives in memory only.
 */
export function openWorld(directory: string | undefined, isSeeded: boolean): World {
  const storage = createStorage(directory);
  const types = createTypes(storage.record);
  const principals = createPrincipals(storage.record);
  const objects = createObjects(storage.record);
  const idempotency = createIdempotency(storage.record);
  const parts = [types, principals, objects, idempotency];

  const dump = () => parts.flatMap((part): readonly Change[] => part.dump());

  function restore(change: Change): void {
    switch (change.kind) {
      case 'type':
        types.create(change.tenant, change.model, change.text);
        break;
      case 'principal':
      case 'principal-deleted':
        principals.restore(change);
        break;
      case 'object': {
        const { kind: _, ...object } = change;
        const type = types.find(object.tenant, object.model, parseTypeRef(object.type, 'type'));
        if (!type)
          throw new Error(`The stored world has an object model of the type ${object.type}, which is missing.`);
        objects.restore({ ...object, type });
        break;
      }
      case 'reference':
        objects.references.restore(change);
        break;
      case 'answer':
        idempotency.restore(change);
    }
  }

  const world: World = {
    types,
    principals,
    objects,
    idempotency,
    get tenants() {
      return new Set(principals.list().map(({ tenant }) => tenant));
    },
    commit: storage.commit,
    reset() {
      for (const part of parts) part.clear();
      if (isSeeded) seed(world);
      storage.start(dump());
    },
    close: storage.close,
  };

  const changes = storage.load();
  if (changes.length === 0) world.reset();
  else {
    changes.forEach(restore);
    storage.start(dump());
  }
  return world;
}
