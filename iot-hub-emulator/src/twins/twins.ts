import { randomBytes } from 'node:crypto';
import type { Identity, Registry } from '../identity/registry.ts';
import type { Table } from '../persistence/table.ts';
import { isObject, type Json, type JsonObject } from '../values/json.ts';
import { Refusal } from '../values/refusal.ts';
import {
  createSection,
  freshSection,
  type Section,
  type SectionView,
  type StoredSection,
  valuesOf,
} from './twinSection.ts';

/** A twin as it is now; sections have `$version` and, seen by services, `$metadata`. */
export interface Twin {
  etag: string;
  /** Counts every change, of whatever part. */
  version: number;
  tags: JsonObject;
  desired: SectionView;
  reported: SectionView;
}

/** What a service may change of a twin. `null` for a value removes it, for tags or desired properties all of them. */
export interface TwinPatch {
  tags?: Json | undefined;
  properties?: Json | undefined;
}

/** A change of a twin. A replacement or deletion has no patch. */
export interface TwinChange {
  kind: 'updated' | 'replaced' | 'deleted';
  identity: Identity;
  /** As it is now; as it was last when it was deleted. */
  twin: Twin;
  patch: { tags?: Json; desired?: Json; reported?: Json };
}

/** The twins of all devices and modules, by client id. */
export interface Twins {
  /** Refuses an unknown identity, as all of these do. */
  get(clientId: string): Twin;
  /** The device reports properties. The answer is the new version. Refuses what a twin cannot hold. */
  report(clientId: string, patch: Json): number;
  /** A service changes tags and desired properties: by merging, or (`replace`) all of what the patch names. */
  change(clientId: string, patch: TwinPatch, replace?: boolean): Twin;
  /** Call `listener` with each patch of the desired properties, `$version` included; the answer ends it. */
  watch(clientId: string, listener: (patch: JsonObject) => void): () => void;
  /** Call `listener` after every change of any twin. */
  onChange(listener: (change: TwinChange) => void): void;
}

type Part = 'tags' | 'desired' | 'reported';

/** A twin as it is stored on disk. */
export interface StoredTwin extends Record<Part, StoredSection> {
  generationId: string;
  etag: string;
  version: number;
}

interface TwinState extends Record<Part, Section> {
  generationId: string;
  etag: string;
  version: number;
}

const bytes = { tags: 8 * 1024, properties: 32 * 1024 };

/** Twins in memory, and in `table` if there is one; empty at first. `now` gives milliseconds since 1970. */
export function createTwins(registry: Registry, now: () => number, table?: Table<StoredTwin>): Twins {
  const twins = new Map<string, TwinState>();
  const watchers = new Map<string, Set<(patch: JsonObject) => void>>();
  const listeners: ((change: TwinChange) => void)[] = [];

  const open = ({ tags, desired, reported, ...rest }: StoredTwin): TwinState => ({
    ...rest,
    tags: createSection('tags', bytes.tags, tags, now),
    desired: createSection('properties.desired', bytes.properties, desired, now),
    reported: createSection('properties.reported', bytes.properties, reported, now),
  });

  const store = (clientId: string, { tags, desired, reported, ...rest }: TwinState): void =>
    table?.put(clientId, {
      ...rest,
      tags: tags.toStored(),
      desired: desired.toStored(),
      reported: reported.toStored(),
    });

  const known = (clientId: string): Identity => {
    const identity = registry.get(clientId);
    if (!identity) throw new Refusal('amqp:not-found', 'There is no device of this id.');
    return identity;
  };
  const find = (clientId: string): TwinState => {
    const identity = known(clientId);
    const present = twins.get(clientId);
    if (present?.generationId === identity.generationId) return present;
    const created = open(freshTwin(identity));
    twins.set(clientId, created);
    store(clientId, created);
    return created;
  };

  const view = ({ etag, version, tags, desired, reported }: TwinState): Twin => ({
    etag,
    version,
    tags: tags.values(),
    desired: desired.view(),
    reported: reported.view(),
  });

  const notify = (
    kind: TwinChange['kind'],
    identity: Identity,
    stored: TwinState,
    patch: TwinChange['patch'] = {},
  ): void => {
    if (listeners.length === 0) return;
    const twin = view(stored);
    for (const listener of listeners) listener({ kind, identity, twin, patch });
  };

  for (const [clientId, stored] of table?.entries() ?? []) twins.set(clientId, open(stored));

  registry.watch((change, identity) => {
    if (change !== 'deleted') return;
    const { clientId } = identity;
    notify('deleted', identity, twins.get(clientId) ?? open(freshTwin(identity)));
    twins.delete(clientId);
    table?.delete(clientId);
  });

  return {
    get: (clientId) => view(find(clientId)),

    report(clientId, patch) {
      const stored = find(clientId);
      stored.reported.apply(patch);
      stored.version += 1; // as in a hub, reported properties do not change the etag
      store(clientId, stored);
      notify('updated', known(clientId), stored, { reported: patch });
      return stored.reported.version();
    },

    change(clientId, { tags, properties }, replace = false) {
      const stored = find(clientId);
      if (properties !== undefined && !isObject(properties))
        throw new Refusal('com.microsoft:argument-error', 'The properties of a twin are an object.');
      const desired = properties?.['desired'];
      const nextTags = createSection('tags', bytes.tags, stored.tags.toStored(), now);
      if (tags !== undefined) change(nextTags, tags, replace);
      const desiredPatch = desired === undefined ? undefined : change(stored.desired, desired, replace);
      stored.tags = nextTags; // only now: what is refused changes nothing
      stored.version += 1;
      stored.etag = newTag();
      store(clientId, stored);
      if (desiredPatch) {
        const patch = { ...desiredPatch, $version: stored.desired.version() };
        for (const listener of watchers.get(clientId) ?? []) listener(patch);
      }
      if (replace) notify('replaced', known(clientId), stored);
      else
        notify('updated', known(clientId), stored, {
          ...(tags === undefined ? {} : { tags }),
          ...(desired === undefined ? {} : { desired }),
        });
      return view(stored);
    },

    watch(clientId, listener) {
      const listeners = watchers.get(clientId) ?? new Set();
      watchers.set(clientId, listeners.add(listener));
      return () => listeners.delete(listener);
    },

    onChange: (listener) => void listeners.push(listener),
  };
}

/** Change a section. The answer is the patch that the device gets: `null` for each name that was removed. */
function change(section: Section, patch: Json, replace: boolean): JsonObject {
  if (patch === null) return Object.fromEntries(section.clear().map((name) => [name, null]));
  section.apply(patch, replace);
  return isObject(patch) ? valuesOf(patch) : {};
}

function freshTwin({ generationId, createdAt }: Identity): StoredTwin {
  const fresh = freshSection(createdAt);
  return { generationId, etag: newTag(), version: 2, tags: fresh, desired: fresh, reported: fresh };
}

function newTag(): string {
  return randomBytes(6).toString('base64');
}
