import { join } from 'node:path';
import type { Hub } from 'iot-hub-emulator';

/** One course of events that is played as it is written down, against the real program, and looked at from outside. */
export interface Scenario {
  readonly name: string;
  readonly about: string;
  /** @returns what was wrong, a sentence each; empty when all is well */
  run(stage: ScenarioOptions): Promise<readonly string[]>;
}

export interface ScenarioOptions {
  /** For logs, stores and so on; it is there. Kept when something was wrong. */
  readonly directory: string;
  /** Has `dist/main.js`. */
  readonly serviceDirectory: string;
  readonly seed: number;
  /** Prints what was seen: counts, times, ratios. */
  say(line: string): void;
}

export const named = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}-${index}`);

/** The longest that updates may take in a trouble, in ms, where they take so long without it. */
export const mostBeside = (aloneMs: number): number => Math.max(10 * aloneMs, 2_000);

/** Closes what was begun in between, the last first, however that ends. */
export async function closingAll<T>(use: (closers: (() => unknown)[]) => Promise<T>): Promise<T> {
  const closers: (() => unknown)[] = [];
  try {
    return await use(closers);
  } finally {
    for (let next = closers.pop(); next; next = closers.pop()) await next();
  }
}

/** Of a service for which one backend stands for all. */
export const environmentOf = (hub: Hub, backend: string, url: string, directory: string) => ({
  ...{ NODE_ENV: 'production', INFORMATION_MODEL_URL: backend, TYPE_REGISTRY_URL: backend },
  ...{ PRINCIPAL_MANAGER_URL: backend, BACKENDS_TOKEN: 'of-a-scenario', DATA_DIRECTORY: join(directory, 'data') },
  HUB_EVENTS_CONNECTION_STRING: hub.eventsConnectionString,
  HUB_SERVICE_CONNECTION_STRING: hub.serviceConnectionString,
  ...{ HTTP_HOST: '127.0.0.1', HTTP_PORT: new URL(url).port, ADMIN_PORT: '0', NODE_EXTRA_CA_CERTS: hub.caFile },
});
