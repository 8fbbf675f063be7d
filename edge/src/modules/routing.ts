import type { Module } from '../configuration/schema.ts';

/** The module that gets an invocation: the owner of the object, or a gateway that serves it (M10). */
export interface Route {
  readonly module: Module;
  readonly isGateway: boolean;
}

/** `other_object`: a module owns the target's identity, and serves another object of it. */
export type FindRoute = (objectId: string, target: string) => Route | 'other_object' | undefined;

/**
 * Routes by object id first, then to the owner of the target's identity, then by the longest configured target that
 * equals the invocation's target or is a prefix of it in whole segments (M10). The first object of an identity that is
 * invoked stays the one.
 */
export function createRouter(modules: readonly Module[]): FindRoute {
  const byObject = new Map<string, Route>();
  const byIdentity = new Map<string, Route>();
  const byTarget = new Map<string, Route>();
  for (const module of modules) {
    const { objectIds, identity, gateway } = module;
    for (const id of objectIds) byObject.set(id.toLowerCase(), { module, isGateway: false });
    if (identity !== undefined) byIdentity.set(identity, { module, isGateway: false });
    for (const id of gateway?.objectIds ?? []) byObject.set(id.toLowerCase(), { module, isGateway: true });
    for (const target of gateway?.targets ?? []) byTarget.set(target, { module, isGateway: true });
  }
  const longest = Math.max(0, ...[...byTarget.keys()].map((target) => target.length));
  const objectOf = new Map<string, string>();

  return (objectId, target) => {
    const object = objectId.toLowerCase();
    const ofObject = byObject.get(object);
    if (ofObject) return ofObject;
    const ofIdentity = byIdentity.get(target);
    if (ofIdentity) {
      if (!objectOf.has(target)) objectOf.set(target, object);
      return objectOf.get(target) === object ? ofIdentity : 'other_object';
    }
    // Prefixes longer than every configured target are not copied: the cost is linear in a hostile path.
    for (let end = target.length; end >= 0; end = end > 0 ? Math.max(0, target.lastIndexOf('/', end - 1)) : -1) {
      const route = end <= longest ? byTarget.get(target.slice(0, end)) : undefined;
      if (route) return route;
    }
    return undefined;
  };
}

export type ReplyTopics = ReturnType<typeof createReplyTopics>;

/**
 * The topics on which replies may come: those of the configuration, and of invocations that began with an earlier one (M10).
 * @param onChange called when topics have come or gone
 */
export function createReplyTopics(modules: readonly Module[], onChange: () => void) {
  const idByTopic = (some: readonly Module[]) =>
    new Map(some.map(({ id, topics_methods_out }) => [topics_methods_out, id]));
  let used = idByTopic(modules);
  const held = new Map<string, { readonly moduleId: string; holds: number }>();

  return {
    /** Sets those of the configuration. */
    use(next: readonly Module[]) {
      used = idByTopic(next);
      onChange();
    },
    /** Keeps those of the modules until the release. */
    hold(some: readonly Module[]) {
      for (const { id, topics_methods_out: topic } of some) {
        const entry = held.get(topic) ?? { moduleId: id, holds: 0 };
        entry.holds += 1;
        held.set(topic, entry);
      }
      return () => {
        for (const { topics_methods_out: topic } of some) {
          const entry = held.get(topic);
          if (!entry) continue;
          entry.holds -= 1;
          if (entry.holds > 0) continue;
          held.delete(topic);
          if (!used.has(topic)) onChange();
        }
      };
    },
    /** Undefined for a topic that is not among them. */
    moduleOf: (topic: string): string | undefined => used.get(topic) ?? held.get(topic)?.moduleId,
    /** A copy. */
    all: (): readonly string[] => [...new Set([...used.keys(), ...held.keys()])],
  };
}
