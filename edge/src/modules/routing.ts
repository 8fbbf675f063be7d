import type { Module } from '../configuration/moduleSchema.ts';

/** The module that gets an invocation: the owner of the object, or a gateway that serves it (M10). */
export interface Route {
  readonly module: Module;
  readonly isGateway: boolean;
}

export type FindRoute = (objectId: string, target: string) => Route | undefined;

/**
 * Routes by object id first, then by the longest configured target that equals the invocation's target or is a prefix
 * of it in whole segments (M10).
 */
export function createRouter(modules: readonly Module[]): FindRoute {
  const byObject = new Map<string, Route>();
  const byTarget = new Map<string, Route>();
  for (const module of modules) {
    for (const id of module.objectIds) byObject.set(id.toLowerCase(), { module, isGateway: false });
    for (const id of module.gateway?.objectIds ?? []) byObject.set(id.toLowerCase(), { module, isGateway: true });
    for (const target of module.gateway?.targets ?? []) byTarget.set(target, { module, isGateway: true });
  }
  const longest = Math.max(0, ...[...byTarget.keys()].map((target) => target.length));

  return (objectId, target) => {
    const ofObject = byObject.get(objectId.toLowerCase());
    if (ofObject) return ofObject;
    // Prefixes longer than every configured target are not copied: the cost is linear in a hostile path.
    for (let end = target.length; end >= 0; end = end > 0 ? Math.max(0, target.lastIndexOf('/', end - 1)) : -1) {
      const route = end <= longest ? byTarget.get(target.slice(0, end)) : undefined;
      if (route) return route;
    }
    return undefined;
  };
}
