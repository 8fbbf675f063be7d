import { type Reference, referenceKey } from '../rules/references.ts';
import type { ObjectModel } from './objectModel.ts';

/** The object model that a reference goes out from. */
export type Source = Pick<ObjectModel, 'tenant' | 'objectId' | 'model'>;

export type ReferenceChange = { readonly kind: 'reference' } & Source & Reference;

const sourceKey = ({ tenant, objectId, model }: Source): string =>
  JSON.stringify([tenant, objectId.toLowerCase(), model]);

export function printReference({ name, to, attributes }: Reference): string {
  return `{"name":${JSON.stringify(name)},"to":${JSON.stringify(to)},"attributes":${attributes}}`;
}

/** Outgoing references by their source. */
export function createReferences(record: (change: ReferenceChange) => void) {
  const bySource = new Map<string, { source: Source; links: Map<string, Reference> }>();

  function insert(source: Source, reference: Reference): boolean {
    const key = sourceKey(source);
    const entry = bySource.get(key) ?? { source, links: new Map<string, Reference>() };
    bySource.set(key, entry);
    const isNew = !entry.links.has(referenceKey(reference));
    entry.links.set(referenceKey(reference), reference);
    return isNew;
  }

  return {
    /** References of a source in order of creation. */
    out: (source: Source): Reference[] => [...(bySource.get(sourceKey(source))?.links.values() ?? [])],
    /** The stored reference with the same name and target. */
    find: (source: Source, reference: Reference): Reference | undefined =>
      bySource.get(sourceKey(source))?.links.get(referenceKey(reference)),
    /** Creates the reference, or puts it in place of the one with the same name and target; true when it is new. */
    put(source: Source, reference: Reference): boolean {
      const { tenant, objectId, model } = source;
      record({ kind: 'reference', tenant, objectId, model, ...reference });
      return insert(source, reference);
    },
    restore({ tenant, objectId, model, name, to, attributes }: ReferenceChange): void {
      insert({ tenant, objectId, model }, { name, to, attributes });
    },
    dump: (): ReferenceChange[] =>
      [...bySource.values()].flatMap(({ source: { tenant, objectId, model }, links }) =>
        Array.from(links.values(), (link) => ({ kind: 'reference' as const, tenant, objectId, model, ...link })),
      ),
    clear: () => bySource.clear(),
  };
}
