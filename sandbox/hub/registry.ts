import { randomBytes } from 'node:crypto';
import { Refusal } from './refusal.ts';

/** A device identity. Keys are base64; `generationId` tells a device from an earlier one of the same name. */
export interface Device {
  deviceId: string;
  generationId: string;
  primaryKey: string;
  secondaryKey: string;
  createdAt: string;
}

/** The device identities of the hub, and who wants to know when one is gone. */
export interface Registry {
  /** Add a device; keys are random unless given. Refuses an invalid id or key, and an id that exists. */
  create(deviceId: string, keys?: { primaryKey?: string | undefined }): Device;
  get(deviceId: string): Device | undefined;
  list(): Device[];
  /** Remove a device; false when there was none. */
  delete(deviceId: string): boolean;
  /** Call `listener` with the id of every device that is removed from now on. */
  onDelete(listener: (deviceId: string) => void): void;
}

// IoT Hub: up to 128 ASCII letters, digits and these; "+" and "#" are not allowed, they would be MQTT wildcards
const validId = /^[A-Za-z0-9\-.%_*?!(),:=@$']{1,128}$/;

/** Device identities in memory. `now` gives milliseconds since 1970. */
export function createRegistry(now: () => number): Registry {
  const devices = new Map<string, Device>();
  const listeners: ((deviceId: string) => void)[] = [];

  return {
    create(deviceId, { primaryKey = randomKey() } = {}) {
      if (!validId.test(deviceId))
        throw new Refusal(
          'com.microsoft:argument-error',
          "A device id has 1 to 128 ASCII letters, digits or - . % _ * ? ! ( ) , : = @ $ '.",
        );
      if (!isKey(primaryKey))
        throw new Refusal('com.microsoft:argument-error', 'A device key is base64 text of 16 to 64 bytes.');
      if (devices.has(deviceId))
        throw new Refusal('com.microsoft:device-already-exists', 'A device of this id exists already.');
      const device = {
        deviceId,
        generationId: BigInt(`0x${randomBytes(7).toString('hex')}`).toString(),
        primaryKey,
        secondaryKey: randomKey(),
        createdAt: new Date(now()).toISOString(),
      };
      devices.set(deviceId, device);
      return device;
    },
    get: (deviceId) => devices.get(deviceId),
    list: () => [...devices.values()],
    delete(deviceId) {
      const existed = devices.delete(deviceId);
      if (existed) for (const listener of listeners) listener(deviceId);
      return existed;
    },
    onDelete: (listener) => void listeners.push(listener),
  };
}

function randomKey(): string {
  return randomBytes(32).toString('base64');
}

function isKey(text: string): boolean {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text && bytes.length >= 16 && bytes.length <= 64;
}
