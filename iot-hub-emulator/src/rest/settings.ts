import { type Authentication, authenticationTypes } from '../identity/authentication.ts';
import type { IdentitySettings } from '../identity/registry.ts';
import { isObject, type Json, type JsonObject } from '../values/json.ts';
import { Refusal } from '../values/refusal.ts';

/** Settings of an identity that this hub does not imitate, and whether a client asks for them: null, false and absence do not. */
const unsupported: Readonly<Record<string, (described: JsonObject) => Json | undefined>> = {
  tags: ({ tags }) => tags,
  properties: ({ properties }) => properties,
};

/** The settings that a registry client sends for an identity. Refuses by name those that this hub does not imitate. For an empty key the hub makes one, or keeps the present one. */
export function settingsIn(described: JsonObject): IdentitySettings {
  for (const [name, isRequested] of Object.entries(unsupported))
    if (isRequested(described)) throw refused(`This hub does not imitate ${name} of an identity.`);
  const { authentication, status, statusReason, managedBy } = described;
  const { symmetricKey, ...proof } = isObject(authentication) ? authentication : {};
  if (status !== undefined && status !== 'enabled' && status !== 'disabled')
    throw refused('The status of a device is enabled or disabled.');
  const { primaryKey, secondaryKey } = isObject(symmetricKey) ? symmetricKey : {};
  return {
    authentication: authenticationIn(proof),
    primaryKey: textIn(primaryKey),
    secondaryKey: textIn(secondaryKey),
    status,
    statusReason: textIn(statusReason),
    managedBy: textIn(managedBy),
    ...placeIn(described),
  };
}

/** Whether it is an edge device, and which one it is behind: of an edge device its `deviceScope` is its own, of others that of their parent. */
function placeIn({
  capabilities,
  deviceScope,
  parentScopes,
}: JsonObject): Pick<IdentitySettings, 'iotEdge' | 'parent'> {
  const iotEdge = isObject(capabilities) ? capabilities['iotEdge'] === true : undefined;
  if (Array.isArray(parentScopes) && parentScopes.length > 1) throw refused('A device has one parent at most.');
  const [above] = Array.isArray(parentScopes) ? (parentScopes.length === 0 ? [''] : parentScopes) : [];
  const parent = iotEdge ? above : (deviceScope ?? above);
  return { iotEdge, parent: parent === '' ? '' : textIn(parent) };
}

/** How the identity is to prove who it is; undefined when nothing is said of it. Refuses types that this hub does not know. */
function authenticationIn({ type, x509Thumbprint }: JsonObject): Authentication | undefined {
  const thumbprints = isObject(x509Thumbprint) ? x509Thumbprint : {};
  const primaryThumbprint = textIn(thumbprints['primaryThumbprint']);
  const secondaryThumbprint = textIn(thumbprints['secondaryThumbprint']);
  const hasThumbprint = (primaryThumbprint ?? secondaryThumbprint) !== undefined;
  if (type === 'selfSigned' || (type === undefined && hasThumbprint))
    return { type: 'selfSigned', primaryThumbprint, secondaryThumbprint };
  if (hasThumbprint) throw refused('Thumbprints go with the authentication type selfSigned.');
  const known = authenticationTypes.find((one) => one === type);
  if (type !== undefined && known === undefined)
    throw refused(`This hub does not imitate the authentication type ${JSON.stringify(type).slice(0, 40)}.`);
  return known === undefined || known === 'selfSigned' ? undefined : { type: known };
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
