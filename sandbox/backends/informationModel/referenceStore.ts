import type { Change } from '../world/storage.ts';
import type { ObjectModel } from './objectModel.ts';

/** A named, directed link from one object model to another. */
export interface Reference {
  readonly name: string;
  readonly to: { readonly objectId: string; readonly model: string };
  /** Raw JSON text of an object, as it was sent. */
  readonly attributes: string;
}

/** The object model that a reference goes out from. */
export type Source = Pick<ObjectModel, 'tenant' | 'objectId' | 'model'>;

const sourceKey = ({ tenant, objectId, model }: Source): string =>
  JSON.stringify([tenant, objectId.toLowerCase(), model]);

/** A reference is the same when name and target are the same. */
const linkKey = ({ name, to }: Reference): string => JSON.stringify([name, to.objectId.toLowerCase(), to.model]);

export function printReference({ name, to, attributes }: Reference): string {
  return `{"name":${JSON.stringify(name)},"to":${JSON.stringify(to)},"attributes":${attributes}}`;
}

/** Outgoing references by their source. */
export function createReferences(record: (change: Change) => void) {
  const bySource = new Map<string, { source: Source; links: Map<string, Reference> }>();

  function place(source: Source, reference: Reference): boolean {
    const key = sourceKey(source);
    const entry = bySource.get(key) ?? { source, links: new Map<string, Reference>() };
    bySource.set(key, entry);
    const isNew = !entry.links.has(linkKey(reference));
    entry.links.set(linkKey(reference), reference);
    return isNew;
  }

  return {
    /** References of a source in order of creation. */
    out: (source: Source): Reference[] => [...(bySource.get(sourceKey(source))?.links.values() ?? [])],
    /** The stored reference with the same name and target. */
    find: (source: Source, reference: Reference): Reference | undefined =>
      bySource.get(sourceKey(source))?.links.get(linkKey(reference)),
    /** Creates the reference, or puts it in place of the one with the same name and target; true when it is new. */
    put(source: Source, reference: Reference): boolean {
      const { tenant, objectId, model } = source;
      record({ kind: 'reference', tenant, objectId, model, ...reference });
      return place(source, reference);
    },
    restore({ tenant, objectId, model, name, to, attributes }: Extract<Change, { kind: 'reference' }>): void {
      place({ tenant, objectId, model }, { name, to, attributes });
    },
    dump: (): Change[] =>
      [...bySource.values()].flatMap(({ source: { tenant, objectId, model }, links }) =>
        Array.from(links.values(), (link): Change => ({ kind: 'reference', tenant, objectId, model, ...link })),
      ),
    clear: () => bySource.clear(),
  };
}
