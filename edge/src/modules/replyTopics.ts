import type { Module } from '../configuration/moduleSchema.ts';

/** The topics on which replies may come: those of the configuration, and of invocations that began with an earlier one (M10). */
export interface ReplyTopics {
  /** Sets those of the configuration. */
  use(modules: readonly Module[]): void;
  /** Keeps those of the modules until the release. */
  hold(modules: readonly Module[]): () => void;
  /** Undefined for a topic that is not among them. */
  moduleOf(topic: string): string | undefined;
  /** A copy. */
  all(): readonly string[];
}

interface HeldTopic {
  readonly moduleId: string;
  holds: number;
}

/** @param onChange called when topics have come or gone */
export function createReplyTopics(modules: readonly Module[], onChange: () => void): ReplyTopics {
  let used = new Map<string, string>();
  const held = new Map<string, HeldTopic>();

  function use(next: readonly Module[]) {
    used = new Map(next.map(({ id, topics_methods_out }) => [topics_methods_out, id]));
  }
  use(modules);

  return {
    use(next) {
      use(next);
      onChange();
    },
    hold(some) {
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
    moduleOf: (topic) => used.get(topic) ?? held.get(topic)?.moduleId,
    all: () => [...new Set([...used.keys(), ...held.keys()])],
  };
}
