import type { Module } from './configuration/moduleSchema.ts';

/** Who gets an invocation: the owner of the object, or a gateway that serves it (M10). */
export interface Match {
  readonly module: Module;
  readonly isGateway: boolean;
}

/**
 * Finds who gets invocations: by object id, else by the longest of the targets that the invocation's target is or lies
 * below, in whole segments (M10).
 */
export function createMatching(modules: readonly Module[]): (objectId: string, target: string) => Match | undefined {
  const byObject = new Map<string, Match>();
  const byTarget = new Map<string, Match>();
  for (const module of modules) {
    for (const id of module.objectIds) byObject.set(id.toLowerCase(), { module, isGateway: false });
    for (const id of module.gateway?.objectIds ?? []) byObject.set(id.toLowerCase(), { module, isGateway: true });
    for (const target of module.gateway?.targets ?? []) byTarget.set(target, { module, isGateway: true });
  }
  const longest = Math.max(0, ...[...byTarget.keys()].map((target) => target.length));

  return (objectId, target) => {
    const owner = byObject.get(objectId.toLowerCase());
    if (owner) return owner;
    // No target is longer than the longest one: a hostile path costs no more than that.
    for (let end = target.length; end >= 0; end = end > 0 ? Math.max(0, target.lastIndexOf('/', end - 1)) : -1) {
      const match = end <= longest ? byTarget.get(target.slice(0, end)) : undefined;
      if (match) return match;
    }
    return undefined;
  };
}
