import { randomBytes } from 'node:crypto';
import type { Registry } from '../identity/registry.ts';
import { isObject, type Json, type JsonObject } from '../values/json.ts';
import { Refusal } from '../values/refusal.ts';
import { createSection, type Section, type SectionView } from './twinSection.ts';

/** A twin as it is now; sections have `$version` and, seen by services, `$metadata`. */
export interface Twin {
  etag: string;
  /** Counts every change, of whatever part. */
  version: number;
  tags: JsonObject;
  desired: SectionView;
  reported: SectionView;
}

/** What a service may change of a twin. `null` for a value removes it. */
export interface TwinPatch {
  tags?: Json | undefined;
  properties?: Json | undefined;
}

/** The twins of all devices and modules, by client id. */
export interface Twins {
  /** Refuses an unknown identity, as all of these do. */
  get(clientId: string): Twin;
  /** The device tells something of itself. The answer is the new version. Refuses what a twin cannot hold. */
  report(clientId: string, patch: Json): number;
  /** A service changes tags and desired properties: by merging, or (`replace`) all of what the patch names. */
  change(clientId: string, patch: TwinPatch, replace?: boolean): Twin;
  /** Call `listener` with each patch of the desired properties, `$version` included; the answer ends it. */
  watch(clientId: string, listener: (patch: JsonObject) => void): () => void;
}

interface Stored {
  generationId: string;
  etag: string;
  version: number;
  tags: Section;
  desired: Section;
  reported: Section;
}

const bytes = { tags: 8 * 1024, properties: 32 * 1024 };

/** Twins in memory, empty at first. `now` gives milliseconds since 1970. */
export function createTwins(registry: Registry, now: () => number): Twins {
  const twins = new Map<string, Stored>();
  const watchers = new Map<string, Set<(patch: JsonObject) => void>>();

  const find = (clientId: string): Stored => {
    const identity = registry.get(clientId);
    if (!identity) throw new Refusal('amqp:not-found', 'There is no device of this id.');
    const stored = twins.get(clientId);
    if (stored?.generationId === identity.generationId) return stored;
    const made = {
      generationId: identity.generationId,
      etag: newTag(),
      version: 2,
      tags: createSection('tags', bytes.tags, now),
      desired: createSection('properties.desired', bytes.properties, now),
      reported: createSection('properties.reported', bytes.properties, now),
    };
    twins.set(clientId, made);
    return made;
  };

  const touch = (stored: Stored): void => {
    stored.version += 1;
    stored.etag = newTag();
  };

  const view = ({ etag, version, tags, desired, reported }: Stored): Twin => ({
    etag,
    version,
    tags: tags.values(),
    desired: desired.view(),
    reported: reported.view(),
  });

  registry.watch((change, { clientId }) => {
    if (change === 'deleted') twins.delete(clientId);
  });

  return {
    get: (clientId) => view(find(clientId)),

    report(clientId, patch) {
      const stored = find(clientId);
      stored.reported.apply(patch);
      stored.version += 1; // as in a hub, reported properties do not change the etag
      return stored.reported.version();
    },

    change(clientId, { tags, properties }, replace = false) {
      const stored = find(clientId);
      if (properties !== undefined && !isObject(properties))
        throw new Refusal('com.microsoft:argument-error', 'The properties of a twin are an object.');
      const desired = properties?.['desired'];
      if (tags !== undefined) stored.tags.apply(tags, replace);
      if (desired !== undefined) stored.desired.apply(desired, replace);
      touch(stored);
      if (desired !== undefined && isObject(desired)) {
        const patch = { ...desired, $version: stored.desired.version() };
        for (const listener of watchers.get(clientId) ?? []) listener(patch);
      }
      return view(stored);
    },

    watch(clientId, listener) {
      const listeners = watchers.get(clientId) ?? new Set();
      watchers.set(clientId, listeners.add(listener));
      return () => listeners.delete(listener);
    },
  };
}

function newTag(): string {
  return randomBytes(6).toString('base64');
}
