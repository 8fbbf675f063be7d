import type { Configuration, ConfigurationPlan, Setting } from '../configurations/configurations.ts';
import type { HubCore } from '../core/core.ts';
import { clientIdOf, type Identity } from '../identity/registry.ts';
import { parseQuery, type TwinQuery } from '../query/parse.ts';
import { selectAll, selectPage } from '../query/select.ts';
import { isObject, type Json, type JsonObject, numeric } from '../values/json.ts';
import { Refusal } from '../values/refusal.ts';
import { checkMatch, identityOf, objectIn, type RestRequest, type Route } from './request.ts';
import { twinShape } from './shapes.ts';

const read = { rights: ['registryRead'], counts: 'registry' } as const;
const write = { rights: ['registryWrite'], counts: 'registry' } as const;
const validId = /^[a-z0-9\-:.+%_#*?!(),=@;$']{1,128}$/;
const mostListed = 100;
const mostMetrics = 5;

const refused = (sentence: string) => new Refusal('com.microsoft:argument-error', sentence);
const noContent = (sentence: string) => new Refusal('com.microsoft:invalid-content', sentence);

/** What each kind of content is for. */
const kinds = {
  deviceContent: ({ moduleId }: Identity) => moduleId === undefined,
  moduleContent: ({ moduleId }: Identity) => moduleId !== undefined,
  modulesContent: ({ iotEdge }: Identity) => iotEdge,
};
type Kind = keyof typeof kinds;

function planIn(hub: HubCore, id: string, described: JsonObject): ConfigurationPlan {
  if (described['id'] !== id) throw refused('The ids in the path and in the body differ.');
  if (!validId.test(id)) throw refused('The id of a configuration has 1 to 128 lower-case characters of an id.');
  const priority = numeric(described['priority'] ?? 0);
  if (!Number.isSafeInteger(priority) || Number(priority) < 0)
    throw refused('The priority of a configuration is a whole number from 0 on.');
  const { content } = described;
  const [kind, ...more] = isObject(content) ? kindsIn(content) : [];
  if (!isObject(content) || !kind || more.length > 0)
    throw noContent(`The content of a configuration has one of ${Object.keys(kinds).join(', ')}.`);
  const settings = settingsOf(hub, kind, content[kind] as JsonObject);
  const target = targetIn(described['targetCondition'], kind === 'moduleContent' ? 'devices.modules' : 'devices');
  for (const query of Object.values(queriesIn(described))) metricIn(query);
  return {
    ...{ id, described, priority: Number(priority), settings },
    targets: (one) =>
      kinds[kind](one) && target !== undefined && selectAll(target, [one], (its) => twinShape(hub, its)).length > 0,
  };
}

const kindsIn = (content: JsonObject) => (Object.keys(kinds) as Kind[]).filter((kind) => isObject(content[kind]));

function settingsOf(hub: HubCore, kind: Kind, content: JsonObject): Setting[] {
  if (kind === 'modulesContent') return [edgeSetting(hub, content)];
  return Object.entries(content).map(([place, value]) => {
    const [properties, section, ...names] = place.split('.');
    const isWhole = names.length === 0;
    if (properties !== 'properties' || section !== 'desired' || names.includes('') || (isWhole && !isObject(value)))
      throw noContent(
        'Content is set at properties.desired, an object, or at places in it, such as properties.desired.a.b.',
      );
    const change = (to: Json) => (identity: Identity) => {
      const desired = names.reduceRight<Json>((inner, name) => ({ [name]: inner }), to);
      hub.twins.change(identity.clientId, { properties: { desired } });
    };
    const none = isObject(value) && isWhole ? Object.fromEntries(Object.keys(value).map((name) => [name, null])) : null;
    return { place, set: change(value), clear: change(none) };
  });
}

/** Content for the modules of an edge device: those that are named, and those that its agent is to run, are there from then on. */
function edgeSetting(hub: HubCore, content: JsonObject): Setting {
  const desiredOf = Object.entries(content).map(([moduleId, of]): [string, JsonObject] => {
    const desired = isObject(of) && Object.keys(of).length === 1 ? of['properties.desired'] : undefined;
    if (!isObject(desired))
      throw noContent('Of a module, content has properties.desired; this hub imitates no layers.');
    return [moduleId, desired];
  });
  const { modules } = Object.fromEntries(desiredOf)['$edgeAgent'] ?? {};
  const ids = new Set([...Object.keys(isObject(modules) ? modules : {}), ...Object.keys(content)]);
  return {
    place: 'modulesContent',
    set({ deviceId }) {
      for (const moduleId of ids)
        if (!hub.registry.get(clientIdOf(deviceId, moduleId)))
          hub.registry.create(deviceId, { moduleId, managedBy: 'iotEdge' });
      for (const [moduleId, desired] of desiredOf)
        hub.twins.change(clientIdOf(deviceId, moduleId), { properties: { desired } }, true);
    },
    clear: () => undefined,
  };
}

/** Undefined when it is for nobody. */
function targetIn(condition: Json | undefined, from: TwinQuery['from']): TwinQuery | undefined {
  const text = typeof condition === 'string' ? condition.trim() : '';
  if (text === '') return undefined;
  const rest = text === '*' ? `FROM ${from}` : /^from\s/i.test(text) ? text : `FROM devices WHERE ${text}`;
  const target = queryIn(`SELECT * ${rest}`, 'com.microsoft:invalid-target-condition');
  if (target.from !== from)
    throw new Refusal('com.microsoft:invalid-target-condition', `The target condition is not about ${from}.`);
  return target;
}

const metricIn = (query: Json) =>
  queryIn(typeof query === 'string' ? query : '', 'com.microsoft:invalid-metrics-query');

function queryIn(text: string, condition: string): TwinQuery {
  try {
    return parseQuery(text);
  } catch (error) {
    throw error instanceof Refusal ? new Refusal(condition, error.message) : error;
  }
}

function queriesIn({ metrics }: JsonObject): JsonObject {
  const queries = isObject(metrics) && isObject(metrics['queries']) ? metrics['queries'] : {};
  if (Object.keys(queries).length > mostMetrics) throw refused(`A configuration has ${mostMetrics} metrics at most.`);
  return queries;
}

function shape(hub: HubCore, { plan, createdAt, updatedAt, etag }: Configuration): JsonObject {
  const { id, described, priority } = plan;
  const { labels = {}, content = {}, targetCondition = '' } = described;
  const devices = hub.registry.list();
  const from = isObject(content) && isObject(content['moduleContent']) ? 'devices.modules' : 'devices';
  const identitiesIn = (of: TwinQuery['from']) =>
    of === 'devices' ? devices : devices.flatMap(({ deviceId }) => hub.registry.modules(deviceId));
  const statuses = identitiesIn(from).map(({ clientId }) => hub.configurations.statusesOf(clientId).get(id));
  const rowsOf = (query: Json): number => {
    const asked = metricIn(query);
    const all = { first: 0, size: Number.MAX_SAFE_INTEGER };
    return selectPage(asked, identitiesIn(asked.from), (one) => twinShape(hub, one), all).items.length;
  };
  const queries = queriesIn(described);
  const columns = from === 'devices' ? 'deviceId' : 'deviceId, moduleId';
  const queryOf = (status: string) =>
    `SELECT ${columns} FROM ${from} WHERE configurations.[[${id}]].status IN [${status}]`;
  return {
    ...{ id, schemaVersion: '1.0', labels, content, targetCondition, priority, etag },
    createdTimeUtc: new Date(createdAt).toISOString(),
    lastUpdatedTimeUtc: new Date(updatedAt).toISOString(),
    systemMetrics: {
      results: {
        targetedCount: statuses.filter((status) => status !== undefined).length,
        appliedCount: statuses.filter((status) => status === 'Applied').length,
      },
      queries: { targetedCount: queryOf("'Targeted', 'Applied'"), appliedCount: queryOf("'Applied'") },
    },
    metrics: {
      results: Object.fromEntries(Object.entries(queries).map(([name, query]) => [name, rowsOf(query)])),
      queries,
    },
  };
}

/** Create, or with an If-Match header update. */
const put = (request: RestRequest) => {
  const { hub, subject, headers } = request;
  const plan = planIn(hub, subject, objectIn(request));
  if (headers['if-match'] === undefined) return { status: 200, body: shape(hub, hub.configurations.create(plan)) };
  checkMatch(request, hub.configurations.get(subject).etag);
  return { status: 200, body: shape(hub, hub.configurations.update(plan)) };
};

const remove = (request: RestRequest) => {
  const { hub, subject } = request;
  checkMatch(request, hub.configurations.get(subject).etag);
  hub.configurations.delete(subject);
  return { status: 204 };
};

const apply = (request: RestRequest) => {
  const identity = identityOf(request);
  const { modulesContent } = objectIn(request);
  if (!identity.iotEdge || !isObject(modulesContent))
    throw noContent('modulesContent is applied, to a device with the capability iotEdge.');
  edgeSetting(request.hub, modulesContent).set(identity);
  return { status: 204 };
};

/** What is wrong with a condition and with queries; absent what is right. */
const tryQueries = (request: RestRequest) => {
  const { targetCondition, customMetricQueries = {} } = objectIn(request);
  const text = typeof targetCondition === 'string' ? targetCondition.trim() : '';
  const wrong = (check: () => unknown): string | undefined => {
    try {
      check();
      return undefined;
    } catch (error) {
      if (error instanceof Refusal) return error.message;
      throw error;
    }
  };
  const isAboutModules = /^from\s+devices\.modules\s/i.test(text);
  const targetConditionError = wrong(() => targetIn(text, isAboutModules ? 'devices.modules' : 'devices'));
  const errors = Object.entries(isObject(customMetricQueries) ? customMetricQueries : {}).flatMap(([name, query]) => {
    const error = wrong(() => metricIn(query));
    return error === undefined ? [] : [[name, error]];
  });
  return {
    status: 200,
    body: {
      ...(targetConditionError === undefined ? {} : { targetConditionError }),
      customMetricQueryErrors: Object.fromEntries(errors),
    },
  };
};

/** Automatic configurations of devices, of modules, and of the modules of edge devices. */
export const configurationRoutes: readonly Route[] = [
  { method: 'PUT', path: '/configurations/{subject}', ...write, handle: put },
  { method: 'DELETE', path: '/configurations/{subject}', ...write, handle: remove },
  {
    method: 'GET',
    path: '/configurations/{subject}',
    ...read,
    handle: ({ hub, subject }) => ({ status: 200, body: shape(hub, hub.configurations.get(subject)) }),
  },
  {
    method: 'GET',
    path: '/configurations',
    ...read,
    handle: ({ hub, query }) => {
      const most = Number(query.get('top')) || mostListed;
      return {
        status: 200,
        body: hub.configurations
          .list()
          .slice(0, most)
          .map((one) => shape(hub, one)),
      };
    },
  },
  { method: 'POST', path: '/configurations/testqueries', ...read, handle: tryQueries },
  { method: 'POST', path: '/devices/{device}/applyconfigurationcontent', ...write, handle: apply },
];
