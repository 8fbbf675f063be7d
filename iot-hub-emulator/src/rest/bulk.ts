import type { HubCore } from '../core/core.ts';
import { clientIdOf } from '../identity/registry.ts';
import { isObject, type Json, type JsonObject } from '../values/json.ts';
import { Refusal } from '../values/refusal.ts';
import { codeOf } from './errors.ts';
import type { Route } from './request.ts';
import { settingsIn, textIn } from './settings.ts';

const most = 100;

/** One change of many: {id, moduleId?, importMode, etag?, …}, with the modes that `azure-iothub` uses. */
function apply(hub: HubCore, described: JsonObject): void {
  const deviceId = textIn(described['id']) ?? '';
  const moduleId = textIn(described['moduleId']);
  const mode = textIn(described['importMode'])?.toLowerCase();
  const settings = settingsIn(described);
  if (mode === 'create') {
    hub.registry.create(deviceId, { ...settings, moduleId });
    return;
  }
  const identity = hub.registry.get(clientIdOf(deviceId, moduleId));
  if (!identity) throw new Refusal('amqp:not-found', 'There is no device of this id.');
  if (mode?.endsWith('ifmatchetag') && textIn(described['etag'] ?? described['eTag']) !== identity.etag)
    throw new Refusal('com.microsoft:precondition-failed', 'The etag names another version.');
  if (mode === 'update' || mode === 'updateifmatchetag') hub.registry.update(identity.clientId, settings);
  else if (mode === 'delete' || mode === 'deleteifmatchetag') hub.registry.delete(identity.clientId);
  else throw new Refusal('com.microsoft:argument-error', 'The import mode is none that this hub knows.');
}

/** Changes of up to a hundred identities at once: each is made or refused by itself, and counts. */
export const bulkRoute: Route = {
  method: 'POST',
  path: '/devices',
  rights: ['registryWrite'],
  handle({ hub, body }) {
    if (!Array.isArray(body) || body.length === 0 || body.length > most || !body.every(isObject))
      throw new Refusal('com.microsoft:argument-error', `The body is a list of 1 to ${most} devices.`);
    hub.throttle.take('registry', body.length);
    const errors: Json[] = [];
    for (const described of body as JsonObject[])
      try {
        apply(hub, described);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const { code } = codeOf(error);
        errors.push({ deviceId: described['id'] ?? null, errorCode: code, errorStatus: error.message });
      }
    const isSuccessful = errors.length === 0;
    return { status: isSuccessful ? 200 : 400, body: { isSuccessful, errors, warnings: [] } };
  },
};
