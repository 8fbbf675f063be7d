import { randomBytes } from 'node:crypto';
import { Refusal } from '../values/refusal.ts';
import { type Authentication, checkAuthentication } from './authentication.ts';

/** A device, or a module of one. Keys are base64; times are ISO 8601. */
export interface Identity {
  /** `device` or `device/module`: the name under which MQTT clients connect. */
  clientId: string;
  deviceId: string;
  moduleId: string | undefined;
  /** Tells an identity from an earlier one of the same name. */
  generationId: string;
  /** Changes with every update. */
  etag: string;
  authentication: Authentication;
  /** Either key signs tokens; they count only if that is how the identity proves who it is. */
  primaryKey: string;
  secondaryKey: string;
  createdAt: string;
  /** A disabled device cannot connect, nor can its modules. */
  status: 'enabled' | 'disabled';
  statusReason: string | undefined;
  statusUpdatedAt: string | undefined;
  /** Who looks after a module; free text. */
  managedBy: string | undefined;
  /** Whether it is an edge device, behind which others may be. */
  iotEdge: boolean;
  /** The scope of the edge device that it is behind; empty: none. */
  parent: string;
}

export type Device = Identity;

type Settable = 'primaryKey' | 'secondaryKey' | 'status' | 'statusReason' | 'managedBy' | Later;

/** What can be said of an identity when it is created or changed; it has keys, random ones, unless something else is given. */
export type IdentitySettings = {
  [K in Settable]?: Identity[K] | undefined;
};

type Later = 'authentication' | 'iotEdge' | 'parent';

export type RegistryChange = 'created' | 'updated' | 'deleted';

/** The identities of the hub. */
export interface Registry {
  /** Add a device, or (`moduleId`) a module to a device. Refuses an invalid id or key, and an id that exists. */
  create(deviceId: string, settings?: IdentitySettings & { moduleId?: string | undefined }): Identity;
  /** Put an identity back as it was before a restart, without calling the listeners. Older ones lack what came later. */
  restore(identity: Omit<Identity, Later> & Partial<Pick<Identity, Later>>): void;
  get(clientId: string): Identity | undefined;
  /** The devices, without their modules. */
  list(): Device[];
  /** The modules of a device. */
  modules(deviceId: string): Identity[];
  /** Change what `settings` names. Refuses an unknown id and an invalid key. */
  update(clientId: string, settings: IdentitySettings): Identity;
  /** Remove an identity, a device with all its modules; false when there was none. */
  delete(clientId: string): boolean;
  /** Call `listener` after every change. */
  watch(listener: (change: RegistryChange, identity: Identity) => void): void;
}

// IoT Hub: up to 128 ASCII letters, digits and these; "+" and "#" are not allowed, they would be MQTT wildcards
const validId = /^[A-Za-z0-9\-.%_*?!(),:=@$']{1,128}$/;
const maxModules = 50;
const longestText = 128;
const scopeForm = /^ms-azure-iot-edge:\/\/(.+)-(\d+)$/;
/** What each edge device runs. */
const systemModules = ['$edgeAgent', '$edgeHub'];

/** The name of an identity: that of the device, and of the module if it is one. */
export function clientIdOf(deviceId: string, moduleId: string | undefined): string {
  return moduleId === undefined ? deviceId : `${deviceId}/${moduleId}`;
}

/** By which devices behind an edge device name it. */
export const scopeOf = ({ deviceId, generationId }: Identity): string =>
  `ms-azure-iot-edge://${deviceId}-${generationId}`;

/** An identity as the journal names it: a device has no module. */
export function nameOf({ deviceId, moduleId }: Identity): { deviceId: string; moduleId?: string } {
  return moduleId === undefined ? { deviceId } : { deviceId, moduleId };
}

/** Identities in memory. `now` gives milliseconds since 1970. */
export function createRegistry(now: () => number): Registry {
  const devices = new Map<string, Device>();
  const modules = new Map<string, Map<string, Identity>>();
  const listeners: ((change: RegistryChange, identity: Identity) => void)[] = [];

  const notify = (change: RegistryChange, identity: Identity): void => {
    for (const listener of listeners) listener(change, identity);
  };
  const time = () => new Date(now()).toISOString();

  /** The table that an identity belongs to. Refuses a module of an unknown device. */
  const tableFor = (deviceId: string, moduleId: string | undefined): Map<string, Identity> => {
    if (moduleId === undefined) return devices;
    if (!devices.has(deviceId)) throw new Refusal('amqp:not-found', 'There is no device of this id.');
    const table = modules.get(deviceId) ?? new Map<string, Identity>();
    modules.set(deviceId, table);
    return table;
  };

  const get = (clientId: string): Identity | undefined =>
    devices.get(clientId) ?? modules.get(clientId.split('/')[0] ?? '')?.get(clientId);

  /** Refuses a scope of no other edge device. */
  const checkParent = (parent: string, own?: string): void => {
    const [, deviceId = '', generationId] = scopeForm.exec(parent) ?? [];
    const found = devices.get(deviceId);
    if (parent !== '' && (!found?.iotEdge || found.generationId !== generationId || deviceId === own))
      throw new Refusal('com.microsoft:invalid-device-scope', 'There is no edge device of this scope.');
  };
  const addSystemModules = ({ deviceId, iotEdge, moduleId }: Identity): void => {
    if (!iotEdge || moduleId !== undefined) return;
    for (const id of systemModules) if (!get(clientIdOf(deviceId, id))) registry.create(deviceId, { moduleId: id });
  };

  const registry: Registry = {
    create(deviceId, { moduleId, ...settings } = {}) {
      if (![deviceId, moduleId ?? 'none'].every((id) => validId.test(id)))
        throw refused("A device id has 1 to 128 ASCII letters, digits or - . % _ * ? ! ( ) , : = @ $ '.");
      const clientId = clientIdOf(deviceId, moduleId);
      const table = tableFor(deviceId, moduleId);
      const { primaryKey = randomKey(), secondaryKey = randomKey(), status = 'enabled' } = settings;
      const { authentication = { type: 'sas' }, iotEdge = false, parent = '' } = settings;
      check({ ...settings, authentication, primaryKey, secondaryKey });
      checkParent(parent);
      if (moduleId !== undefined && (iotEdge || parent !== '')) throw refused('A module is no edge device.');
      if (table.has(clientId))
        throw new Refusal('com.microsoft:device-already-exists', 'A device of this id exists already.');
      if (table !== devices && table.size >= maxModules) throw refused(`A device may have ${maxModules} modules.`);
      const identity: Identity = {
        clientId,
        deviceId,
        moduleId,
        generationId: BigInt(`0x${randomBytes(7).toString('hex')}`).toString(),
        etag: randomTag(),
        authentication,
        primaryKey,
        secondaryKey,
        createdAt: time(),
        status,
        statusReason: settings.statusReason,
        statusUpdatedAt: undefined,
        managedBy: settings.managedBy,
        iotEdge,
        parent,
      };
      table.set(clientId, identity);
      notify('created', identity);
      addSystemModules(identity);
      return identity;
    },

    restore: ({ authentication = { type: 'sas' }, iotEdge = false, parent = '', ...identity }) =>
      void tableFor(identity.deviceId, identity.moduleId).set(identity.clientId, {
        ...{ ...identity, authentication, iotEdge, parent },
      }),
    get,
    list: () => [...devices.values()],
    modules: (deviceId) => [...(modules.get(deviceId)?.values() ?? [])],

    update(clientId, settings) {
      const identity = get(clientId);
      if (!identity) throw new Refusal('amqp:not-found', 'There is no device of this id.');
      const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
      const changed = { ...identity, ...given, etag: randomTag() };
      check(changed);
      if (changed.parent !== identity.parent) checkParent(changed.parent, clientId);
      if (changed.status !== identity.status) changed.statusUpdatedAt = time();
      tableFor(identity.deviceId, identity.moduleId).set(clientId, changed);
      notify('updated', changed);
      addSystemModules(changed);
      return changed;
    },

    delete(clientId) {
      const identity = get(clientId);
      if (!identity) return false;
      const { deviceId, moduleId } = identity;
      const removed = moduleId === undefined ? [...(modules.get(deviceId)?.values() ?? []), identity] : [identity];
      if (moduleId === undefined) {
        modules.delete(deviceId);
        devices.delete(deviceId);
      } else modules.get(deviceId)?.delete(clientId);
      for (const each of removed) notify('deleted', each);
      return true;
    },

    watch: (listener) => void listeners.push(listener),
  };
  return registry;
}

function check({ authentication, primaryKey = '', secondaryKey = '', ...texts }: IdentitySettings): void {
  const { statusReason = '', managedBy = '' } = texts;
  if (authentication) checkAuthentication(authentication);
  if (![primaryKey, secondaryKey].every(isKey)) throw refused('A device key is base64 text of 16 to 64 bytes.');
  if ([statusReason, managedBy].some(({ length }) => length > longestText))
    throw refused(`The reason of a status, and who manages a module, have ${longestText} characters at most.`);
}

function refused(sentence: string): Refusal {
  return new Refusal('com.microsoft:argument-error', sentence);
}

function randomKey(): string {
  return randomBytes(32).toString('base64');
}

function randomTag(): string {
  return randomBytes(6).toString('base64');
}

function isKey(text: string): boolean {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text && bytes.length >= 16 && bytes.length <= 64;
}
