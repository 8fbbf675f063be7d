import { uniqueKeys } from '../rules/uniqueness.ts';
import type { TypeVersion } from '../typeRegistry/types.ts';
import { createBucket } from './bucket.ts';
import type { ObjectModel } from './objectModel.ts';
import { createReferences, type ReferenceChange } from './referenceStore.ts';

export type ObjectChange = { readonly kind: 'object'; readonly type: string } & Omit<ObjectModel, 'type'>;

/** GUIDs are equal whatever the case of their letters. */
const objectKey = (tenant: string, objectId: string): string => `${objectId.toLowerCase()} ${tenant}`;

/** One key per unique group whose properties all have a value. */
const groupKeys = (tenant: string, { model, groups }: TypeVersion, properties: string): string[] =>
  uniqueKeys(groups, properties).map((key) => JSON.stringify([tenant, model, ...key]));

/** The object models of all tenants: by id, by unique group, by type and values. No look-up walks over the world. */
export function createObjects(record: (change: ObjectChange | ReferenceChange) => void) {
  const byId = new Map<string, Map<string, ObjectModel>>();
  const byGroup = new Map<string, ObjectModel>();
  const byType = new Map<string, ReturnType<typeof createBucket>>();
  const references = createReferences(record);
  let count = 0;

  function bucketOf(tenant: string, model: string, typeId: string) {
    const key = JSON.stringify([tenant, model, typeId]);
    const bucket = byType.get(key) ?? createBucket();
    byType.set(key, bucket);
    return bucket;
  }

  function index(object: ObjectModel): void {
    const id = objectKey(object.tenant, object.objectId);
    const models = byId.get(id) ?? new Map<string, ObjectModel>();
    const before = models.get(object.model);
    if (before) bucketOf(before.tenant, before.model, before.type.typeId).remove(before);
    else count++;
    // Unique values never change and groups are never left, so that the predecessor's keys are all among these.
    for (const key of groupKeys(object.tenant, object.type, object.properties)) byGroup.set(key, object);
    bucketOf(object.tenant, object.model, object.type.typeId).add(object);
    byId.set(id, models.set(object.model, object));
  }

  const objects = {
    references,
    get: (tenant: string, objectId: string, model: string): ObjectModel | undefined =>
      byId.get(objectKey(tenant, objectId))?.get(model),
    /** All models that share an object id. */
    siblings: (tenant: string, objectId: string): ObjectModel[] => [
      ...(byId.get(objectKey(tenant, objectId))?.values() ?? []),
    ],
    /** Object models that already hold these unique values in a group of the type. */
    holders: (tenant: string, type: TypeVersion, properties: string): ObjectModel[] =>
      groupKeys(tenant, type, properties).flatMap((key) => byGroup.get(key) ?? []),
    /** Object models of a type id (any version) with these property values: name → normal form (`scalar`). B2 */
    find: (tenant: string, model: string, typeId: string, values: ReadonlyMap<string, string>): ObjectModel[] =>
      byType.get(JSON.stringify([tenant, model, typeId]))?.find(values) ?? [],
    /** Puts an object model in place of its predecessor. The caller has checked every rule. */
    put(object: ObjectModel): ObjectModel {
      index(object);
      record({ kind: 'object', ...object, type: object.type.ref });
      return object;
    },
    get count(): number {
      return count;
    },
    list: (): ObjectModel[] => [...byId.values()].flatMap((models) => [...models.values()]),
    restore: index,
    dump: (): (ObjectChange | ReferenceChange)[] => [
      ...objects.list().map((object) => ({ kind: 'object' as const, ...object, type: object.type.ref })),
      ...references.dump(),
    ],
    clear(): void {
      for (const map of [byId, byGroup, byType]) map.clear();
      references.clear();
      count = 0;
    },
  };
  return objects;
}

export type Objects = ReturnType<typeof createObjects>;
