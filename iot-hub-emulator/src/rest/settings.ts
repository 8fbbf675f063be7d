import type { IdentitySettings } from '../identity/registry.ts';
import { isObject, type Json, type JsonObject } from '../values/json.ts';
import { Refusal } from '../values/refusal.ts';

/** Settings of an identity that this hub does not imitate, and whether a client asks for them: null, false and absence do not. */
const unsupported: Readonly<Record<string, (described: JsonObject) => Json | undefined>> = {
  'capabilities.iotEdge': ({ capabilities }) => isObject(capabilities) && capabilities['iotEdge'],
  deviceScope: ({ deviceScope }) => deviceScope,
  parentScopes: ({ parentScopes }) => Array.isArray(parentScopes) && parentScopes.length > 0,
  'authentication.x509Thumbprint': ({ authentication }) => {
    const { x509Thumbprint } = isObject(authentication) ? authentication : {};
    return isObject(x509Thumbprint) && Object.values(x509Thumbprint).some((thumbprint) => thumbprint);
  },
  tags: ({ tags }) => tags,
  properties: ({ properties }) => properties,
};

/** The settings that a registry client sends for an identity. Refuses by name those that this hub does not imitate. For an empty key the hub makes one, or keeps the present one. */
export function settingsIn(described: JsonObject): IdentitySettings {
  for (const [name, isRequested] of Object.entries(unsupported))
    if (isRequested(described)) throw refused(`This hub does not imitate ${name} of an identity.`);
  const { authentication, status, statusReason, managedBy } = described;
  const { type, symmetricKey } = isObject(authentication) ? authentication : {};
  if (type !== undefined && type !== 'sas') throw refused('This hub authenticates devices by symmetric keys only.');
  if (status !== undefined && status !== 'enabled' && status !== 'disabled')
    throw refused('The status of a device is enabled or disabled.');
  const { primaryKey, secondaryKey } = isObject(symmetricKey) ? symmetricKey : {};
  return {
    primaryKey: textIn(primaryKey),
    secondaryKey: textIn(secondaryKey),
    status,
    statusReason: textIn(statusReason),
    managedBy: textIn(managedBy),
  };
}

/** A text; undefined for an empty one, null or nothing. Refuses anything else. */
export function textIn(value: Json | undefined): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw refused('An id, key or reason is a text.');
  return value;
}

function refused(sentence: string): Refusal {
  return new Refusal('com.microsoft:argument-error', sentence);
}
