import { clientIdOf } from '../identity/registry.ts';
import { Refusal } from '../values/refusal.ts';
import { checkMatch, identityOf, objectIn, type RestRequest, type Route } from './request.ts';
import { settingsIn, textIn } from './settings.ts';
import { identityShape } from './shapes.ts';

const read = { rights: ['registryRead'], counts: 'registry' } as const;
const write = { rights: ['registryWrite'], counts: 'registry' } as const;
const mostListed = 1000;

/** Create, or with an If-Match header update. */
const put = (request: RestRequest) => {
  const { hub, device, module, headers } = request;
  const described = objectIn(request);
  const named = [textIn(described['deviceId']), textIn(described['moduleId'])];
  if (named[0] !== device || named[1] !== module)
    throw new Refusal('com.microsoft:argument-error', 'The ids in the path and in the body differ.');
  const settings = settingsIn(described);
  if (headers['if-match'] === undefined) {
    const created = hub.registry.create(device, { ...settings, moduleId: module });
    return { status: module === undefined ? 200 : 201, body: identityShape(hub, created) };
  }
  checkMatch(request, identityOf(request).etag);
  return { status: 200, body: identityShape(hub, hub.registry.update(clientIdOf(device, module), settings)) };
};

const get = (request: RestRequest) => ({ status: 200, body: identityShape(request.hub, identityOf(request)) });

const remove = (request: RestRequest) => {
  const { etag, clientId } = identityOf(request);
  checkMatch(request, etag);
  request.hub.registry.delete(clientId);
  return { status: 204 };
};

/** The registry: devices and modules, one by one. */
export const identityRoutes: readonly Route[] = [
  { method: 'PUT', path: '/devices/{device}', ...write, handle: put },
  { method: 'GET', path: '/devices/{device}', ...read, handle: get },
  { method: 'DELETE', path: '/devices/{device}', ...write, handle: remove },
  { method: 'PUT', path: '/devices/{device}/modules/{module}', ...write, handle: put },
  { method: 'GET', path: '/devices/{device}/modules/{module}', ...read, handle: get },
  { method: 'DELETE', path: '/devices/{device}/modules/{module}', ...write, handle: remove },
  {
    method: 'GET',
    path: '/devices',
    ...read,
    handle: ({ hub, query }) => {
      const most = Math.min(Number(query.get('top') ?? query.get('maxCount')) || mostListed, mostListed);
      return {
        status: 200,
        body: hub.registry
          .list()
          .slice(0, most)
          .map((device) => identityShape(hub, device)),
      };
    },
  },
  {
    method: 'GET',
    path: '/devices/{device}/modules',
    ...read,
    handle: (request) => {
      const { hub } = request;
      const { deviceId } = identityOf(request);
      return { status: 200, body: hub.registry.modules(deviceId).map((module) => identityShape(hub, module)) };
    },
  },
];
