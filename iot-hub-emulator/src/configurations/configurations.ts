import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Identity, Registry } from '../identity/registry.ts';
import type { Twins } from '../twins/twins.ts';
import { type JsonObject, writeJson } from '../values/json.ts';
import { Refusal } from '../values/refusal.ts';

/** What a configuration sets at one place: of those that target a twin, the one with the highest priority has its way there. */
export interface Setting {
  readonly place: string;
  /** Refuses what a twin cannot have. */
  set(identity: Identity): void;
  clear(identity: Identity): void;
}

/** What a service wants of many twins. */
export interface ConfigurationPlan {
  readonly id: string;
  readonly priority: number;
  /** As the service wrote it. */
  readonly described: JsonObject;
  readonly settings: readonly Setting[];
  targets(identity: Identity): boolean;
}

/** A configuration as it is now; times are milliseconds since 1970. */
export interface Configuration {
  plan: ConfigurationPlan;
  readonly createdAt: number;
  updatedAt: number;
  etag: string;
}

/** Whether a configuration has set something in a twin, or only would have. */
export type ConfigurationStatus = 'Targeted' | 'Applied';

/** Automatic configurations. They take effect soon after each change of a configuration or twin. */
export interface Configurations {
  /** Refuses an id that there is, and more than may be kept. */
  create(plan: ConfigurationPlan): Configuration;
  /** Refuses an unknown id, as does `get`, and other content than it was created with. */
  update(plan: ConfigurationPlan): Configuration;
  get(id: string): Configuration;
  list(): readonly Configuration[];
  /** What it has set stays, but where another configuration sets something. Refuses an unknown id. */
  delete(id: string): void;
  /** By configuration, for those that target the twin. */
  statusesOf(clientId: string): ReadonlyMap<string, ConfigurationStatus>;
  /** Nothing takes effect after that. */
  close(): void;
}

interface Effect {
  /** By place: which configuration has set it. */
  readonly places: ReadonlyMap<string, Configuration>;
  readonly statuses: ReadonlyMap<string, ConfigurationStatus>;
}

const mostKept = 100;
const mostBytes = 16 * 1024 * 1024;
const nothing: Effect = { places: new Map(), statuses: new Map() };

const sizeOf = ({ described }: ConfigurationPlan): number => 2 * writeJson(described).length;

/** Configurations in memory. `now` gives milliseconds since 1970. */
export function createConfigurations(registry: Registry, twins: Twins, now: () => number): Configurations {
  const configurations = new Map<string, Configuration>();
  const effects = new Map<string, Effect>();
  const changed = new Set<string>();
  let current: string | undefined; // whose twin is being set: what that changes has no effect of its own
  let timer: NodeJS.Immediate | undefined;

  const settingOf = ({ plan }: Configuration, place: string) => plan.settings.find((one) => one.place === place);

  const evaluate = (identity: Identity): void => {
    const { clientId } = identity;
    const { places: before } = effects.get(clientId) ?? nothing;
    const targeting = [...configurations.values()]
      .filter(({ plan }) => plan.targets(identity))
      .sort((a, b) => a.plan.priority - b.plan.priority);
    const places = new Map<string, Configuration>();
    for (const configuration of targeting)
      for (const { place } of configuration.plan.settings) {
        places.delete(place); // later places override those that they are in
        places.set(place, configuration);
      }
    for (const [place, former] of before)
      if (places.get(place) !== former && configurations.get(former.plan.id) === former)
        settingOf(former, place)?.clear(identity);
    for (const [place, configuration] of places)
      if (before.get(place) !== configuration && !isSet(configuration, place, identity)) places.delete(place);
    const applied = new Set(places.values());
    const statuses = new Map(
      targeting.map((one): [string, ConfigurationStatus] => [one.plan.id, applied.has(one) ? 'Applied' : 'Targeted']),
    );
    if (statuses.size > 0) effects.set(clientId, { places, statuses });
    else effects.delete(clientId);
  };

  const isSet = (configuration: Configuration, place: string, identity: Identity): boolean => {
    try {
      settingOf(configuration, place)?.set(identity);
      return true;
    } catch (error) {
      if (error instanceof Refusal) return false;
      throw error;
    }
  };

  const soon = (...clientIds: readonly string[]): void => {
    for (const clientId of clientIds) if (clientId !== current) changed.add(clientId);
    if (changed.size > 0) timer ??= setImmediate(run);
  };
  const run = (): void => {
    timer = undefined;
    for (const clientId of changed) {
      changed.delete(clientId);
      const identity = registry.get(clientId);
      if (!identity) continue;
      current = clientId;
      evaluate(identity);
      current = undefined;
    }
  };
  const all = () => {
    const devices = registry.list();
    soon(...devices.flatMap(({ clientId }) => [clientId, ...registry.modules(clientId).map((one) => one.clientId)]));
  };

  const touched = ({ clientId }: Identity): void => {
    if (configurations.size > 0) soon(clientId);
  };
  registry.watch((change, identity) => {
    if (change === 'deleted') effects.delete(identity.clientId);
    else touched(identity);
  });
  twins.onChange(({ kind, identity }) => {
    if (kind !== 'deleted') touched(identity);
  });

  const get = (id: string): Configuration => {
    const configuration = configurations.get(id);
    if (!configuration) throw new Refusal('com.microsoft:configuration-not-found', 'There is no such configuration.');
    return configuration;
  };
  const newTag = () => randomBytes(6).toString('base64');

  return {
    create(plan) {
      if (configurations.has(plan.id))
        throw new Refusal('com.microsoft:configuration-already-exists', 'There is a configuration of this id.');
      const bytes = [...configurations.values()].reduce((sum, one) => sum + sizeOf(one.plan), sizeOf(plan));
      if (configurations.size >= mostKept || bytes > mostBytes)
        throw new Refusal(
          'com.microsoft:too-many-configurations',
          `The hub has ${mostKept} configurations at most, of ${mostBytes} bytes in all.`,
        );
      const configuration = { plan, createdAt: now(), updatedAt: now(), etag: newTag() };
      configurations.set(plan.id, configuration);
      all();
      return configuration;
    },
    update(plan) {
      const configuration = get(plan.id);
      if (!isDeepStrictEqual(configuration.plan.described['content'], plan.described['content']))
        throw new Refusal('com.microsoft:immutable-content', 'The content of a configuration cannot be changed.');
      Object.assign(configuration, { plan, updatedAt: now(), etag: newTag() });
      all();
      return configuration;
    },
    get,
    list: () => [...configurations.values()],
    delete(id) {
      get(id);
      configurations.delete(id);
      all();
    },
    statusesOf: (clientId) => (effects.get(clientId) ?? nothing).statuses,
    close() {
      if (timer) clearImmediate(timer);
      changed.clear();
      configurations.clear();
    },
  };
}
