import type { HubCore } from '../core/core.ts';
import type { Authentication } from '../identity/authentication.ts';
import { type Identity, scopeOf } from '../identity/registry.ts';
import type { JsonObject } from '../values/json.ts';

const never = '0001-01-01T00:00:00Z';

function presenceOf(hub: HubCore, { clientId }: Identity) {
  const since = hub.presence.since(clientId);
  const time = since === 0 ? never : new Date(since).toISOString();
  return {
    connectionState: hub.presence.isConnected(clientId) ? 'Connected' : 'Disconnected',
    connectionStateUpdatedTime: time,
    lastActivityTime: time,
    cloudToDeviceMessageCount: hub.devicebound.pending(clientId).length,
  };
}

function authenticationOf({ authentication, ...keys }: Identity): JsonObject {
  const { type } = authentication;
  const { primaryKey, secondaryKey } = type === 'sas' ? keys : { primaryKey: null, secondaryKey: null };
  return { symmetricKey: { primaryKey, secondaryKey }, x509Thumbprint: thumbprintsIn(authentication), type };
}

function thumbprintsIn(authentication: Authentication): JsonObject {
  if (authentication.type !== 'selfSigned') return { primaryThumbprint: null, secondaryThumbprint: null };
  const { primaryThumbprint = null, secondaryThumbprint = null } = authentication;
  return { primaryThumbprint, secondaryThumbprint };
}

/** An identity as the registry's clients see it, keys included. */
export function identityShape(hub: HubCore, identity: Identity): JsonObject {
  const { deviceId, moduleId, generationId, etag } = identity;
  const common = { generationId, etag, ...presenceOf(hub, identity), authentication: authenticationOf(identity) };
  if (moduleId !== undefined) return { moduleId, managedBy: identity.managedBy ?? null, deviceId, ...common };
  return {
    deviceId,
    ...common,
    status: identity.status,
    statusReason: identity.statusReason ?? null,
    statusUpdatedTime: identity.statusUpdatedAt ?? never,
    ...placeOf(identity),
  };
}

function placeOf(identity: Identity): JsonObject {
  const { iotEdge, parent } = identity;
  const capabilities = { iotEdge };
  if (!iotEdge && parent === '') return { capabilities };
  return { capabilities, deviceScope: iotEdge ? scopeOf(identity) : parent, parentScopes: parent ? [parent] : [] };
}

/** A twin as services see it, metadata included. Refuses an unknown identity. */
export function twinShape(hub: HubCore, identity: Identity): JsonObject {
  const { etag, version, tags, desired, reported } = hub.twins.get(identity.clientId);
  const { connectionState, lastActivityTime, cloudToDeviceMessageCount } = presenceOf(hub, identity);
  const statuses = [...hub.configurations.statusesOf(identity.clientId)].map(([id, status]) => [id, { status }]);
  return {
    deviceId: identity.deviceId,
    ...(identity.moduleId === undefined ? {} : { moduleId: identity.moduleId }),
    etag,
    deviceEtag: identity.etag,
    status: identity.status,
    statusUpdateTime: identity.statusUpdatedAt ?? never,
    connectionState,
    lastActivityTime,
    cloudToDeviceMessageCount,
    authenticationType: identity.authentication.type,
    x509Thumbprint: thumbprintsIn(identity.authentication),
    modelId: hub.models.of(identity.clientId) ?? '',
    version,
    tags,
    properties: { desired, reported },
    ...placeOf(identity),
    ...(statuses.length === 0 ? {} : { configurations: Object.fromEntries(statuses) }),
  };
}
