import { Refusal } from '../values/refusal.ts';
import { checkMatch, identityOf, objectIn, type RestRequest, type Route } from './request.ts';
import { twinShape } from './shapes.ts';

const service = { rights: ['serviceConnect'] } as const;
const pageSize = 100;

const get = (request: RestRequest) => ({ status: 200, body: twinShape(request.hub, identityOf(request)) });

const change = (replace: boolean) => (request: RestRequest) => {
  const { hub } = request;
  const identity = identityOf(request);
  checkMatch(request, hub.twins.get(identity.clientId).etag);
  const { tags, properties } = objectIn(request);
  hub.twins.change(identity.clientId, { tags, properties }, replace);
  return { status: 200, body: twinShape(hub, identity) };
};

// SELECT * FROM devices, SELECT * FROM devices.modules
const selection = /^\s*select\s+\*\s+from\s+devices(?<modules>\.modules)?\s*;?\s*$/i;

const query = (request: RestRequest) => {
  const { hub, headers } = request;
  const { query: text } = objectIn(request);
  const found = selection.exec(typeof text === 'string' ? text : '');
  if (!found)
    throw new Refusal('com.microsoft:argument-error', 'This hub knows SELECT * FROM devices, or devices.modules.');
  const devices = hub.registry.list();
  const all = found.groups?.['modules'] ? devices.flatMap(({ deviceId }) => hub.registry.modules(deviceId)) : devices;
  const first = Number(headers['x-ms-continuation'] ?? 0) || 0;
  const most = Number(headers['x-ms-max-item-count'] ?? pageSize) || pageSize;
  const next = first + most;
  return {
    status: 200,
    body: all.slice(first, next).map((identity) => twinShape(hub, identity)),
    ...(next < all.length ? { headers: { 'x-ms-continuation': String(next) } } : {}),
  };
};

/** Twins of devices and modules, and the simplest of queries. */
export const twinRoutes: readonly Route[] = [
  ...['twins/{device}', 'twins/{device}/modules/{module}'].flatMap((path): Route[] => [
    { method: 'GET', path, ...service, counts: 'twinRead', handle: get },
    { method: 'PATCH', path, ...service, counts: 'twinUpdate', handle: change(false) },
    { method: 'PUT', path, ...service, counts: 'twinUpdate', handle: change(true) },
  ]),
  {
    method: 'POST',
    path: 'devices/query',
    rights: ['serviceConnect', 'registryRead'],
    counts: 'twinRead',
    handle: query,
  },
];
