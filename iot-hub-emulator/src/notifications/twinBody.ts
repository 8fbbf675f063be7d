import type { Identity } from '../identity/registry.ts';
import type { SectionView } from '../twins/twinSection.ts';
import type { Twin, TwinChange } from '../twins/twins.ts';
import { isObject, type Json, type JsonObject } from '../values/json.ts';

/** A whole twin, as events have it. */
export function wholeTwin(
  { deviceId, moduleId }: Identity,
  { etag, version, tags, desired, reported }: Twin,
): JsonObject {
  return {
    deviceId,
    ...(moduleId === undefined ? {} : { moduleId }),
    etag,
    version,
    ...(Object.keys(tags).length === 0 ? {} : { tags }),
    properties: { desired, reported },
  };
}

/** What a patch has changed of a twin: the new values, with their metadata. */
export function changedPart({ twin, patch }: TwinChange): JsonObject {
  const { tags, desired, reported } = patch;
  const properties: JsonObject = {
    ...(desired === undefined ? {} : { desired: sectionOf(twin.desired, desired) }),
    ...(reported === undefined ? {} : { reported: sectionOf(twin.reported, reported) }),
  };
  return {
    version: twin.version,
    ...(tags === undefined ? {} : { tags }),
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
  };
}

function sectionOf({ $version, $metadata, ...values }: SectionView, patch: Json): JsonObject {
  const { $lastUpdated = null, $lastUpdatedVersion = null } = $metadata;
  const stamps = { $lastUpdated, $lastUpdatedVersion };
  const changed = isObject(patch) ? patch : {};
  return {
    ...named(values, changed, true),
    $metadata: { ...stamps, ...named($metadata, changed, false) },
    $version,
  };
}

/** Those parts of `from` that the patch names; what is there no more is null, or absent unless `withGone`. */
function named(from: JsonObject, patch: JsonObject, withGone: boolean): JsonObject {
  const found: JsonObject = Object.create(null);
  for (const [name, value] of Object.entries(patch)) {
    const inner = Object.hasOwn(from, name) ? (from[name] ?? null) : null;
    if (name.startsWith('$') || (inner === null && !withGone)) continue;
    found[name] = isObject(value) && isObject(inner) ? named(inner, value, withGone) : inner;
  }
  return found;
}
