import type { HubCore } from '../core/core.ts';
import type { Identity } from '../identity/registry.ts';
import { rangeOf } from '../query/page.ts';
import { parseQuery, type TwinQuery } from '../query/parse.ts';
import { selectPage } from '../query/select.ts';
import type { TwinPatch } from '../twins/twins.ts';
import { isObject, type JsonObject } from '../values/json.ts';
import { Refusal } from '../values/refusal.ts';
import { checkMatch, identityOf, objectIn, type RestRequest, type Route } from './request.ts';
import { twinShape } from './shapes.ts';

const service = { rights: ['serviceConnect'] } as const;

const get = (request: RestRequest) => ({ status: 200, body: twinShape(request.hub, identityOf(request)) });

const change = (replace: boolean) => (request: RestRequest) => {
  const { hub } = request;
  const identity = identityOf(request);
  checkMatch(request, hub.twins.get(identity.clientId).etag);
  const patch = twinPatchIn(objectIn(request));
  hub.twins.change(identity.clientId, patch, replace);
  return { status: 200, body: twinShape(hub, identity) };
};

const query = (request: RestRequest) => {
  const { hub, headers } = request;
  const { query: text } = objectIn(request);
  const asked = parseQuery(typeof text === 'string' ? text : '');
  const [after, count] = [headers['x-ms-continuation'], headers['x-ms-max-item-count']].map((value) =>
    value?.toString(),
  );
  const twinOf = (identity: Identity) => twinShape(hub, identity);
  const { items, continuation } = selectPage(asked, identitiesIn(hub, asked), twinOf, rangeOf(after, count));
  return {
    status: 200,
    body: items,
    headers: {
      'x-ms-item-type': asked.select ? 'Raw' : 'Twin',
      ...(continuation === undefined ? {} : { 'x-ms-continuation': continuation }),
    },
  };
};

function identitiesIn({ registry }: HubCore, { from }: TwinQuery): Identity[] {
  const devices = registry.list();
  return from === 'devices' ? devices : devices.flatMap(({ deviceId }) => registry.modules(deviceId));
}

/** Members that a twin has: those that a service does not change are passed over, so that it can send back what it has read. */
const members = [
  ...['deviceId', 'moduleId', 'etag', 'deviceEtag', 'version', 'tags', 'properties', 'modelId', 'capabilities'],
  ...['status', 'statusReason', 'statusUpdateTime', 'connectionState', 'lastActivityTime', 'cloudToDeviceMessageCount'],
  ...['authenticationType', 'x509Thumbprint', 'configurations', 'deviceScope', 'parentScopes'],
];

/** What a service wants changed of a twin. Refuses what no twin has. */
export function twinPatchIn(patch: JsonObject): TwinPatch {
  const properties = isObject(patch['properties']) ? Object.keys(patch['properties']) : [];
  const unknown = [
    ...Object.keys(patch).filter((name) => !members.includes(name)),
    ...properties.filter((name) => name !== 'desired' && name !== 'reported').map((name) => `properties.${name}`),
  ];
  if (unknown.length > 0)
    throw new Refusal('com.microsoft:argument-error', `A twin has no ${unknown.join(', ').slice(0, 100)}.`);
  return { tags: patch['tags'], properties: patch['properties'] };
}

/** Twins of devices and modules, and queries about them. */
export const twinRoutes: readonly Route[] = [
  ...['/twins/{device}', '/twins/{device}/modules/{module}'].flatMap((path): Route[] => [
    { method: 'GET', path, ...service, counts: 'twinRead', handle: get },
    { method: 'PATCH', path, ...service, counts: 'twinUpdate', handle: change(false) },
    { method: 'PUT', path, ...service, counts: 'twinUpdate', handle: change(true) },
  ]),
  {
    method: 'POST',
    path: '/devices/query',
    rights: ['serviceConnect', 'registryRead'],
    counts: 'twinRead',
    handle: query,
  },
];
