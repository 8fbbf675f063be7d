import { setImmediate as turn } from 'node:timers/promises';
import type { Events } from '../events/events.ts';
import type { Access } from '../identity/access.ts';
import type { Registry } from '../identity/registry.ts';
import { Refusal } from '../values/refusal.ts';
import type { FaultOf } from './schema.ts';

const atOnce = 1000;

/** Append many events as if devices had sent them: the one that is named, or all in turn. Refuses when there is none. */
export async function burst(
  { events: count, bytes = 1024, body: text, sections, deviceId, properties = {} }: FaultOf<'burst'>,
  hub: { events: Events; registry: Registry; access: Access },
): Promise<number> {
  const { events, registry, access } = hub;
  const devices = registry.list().filter((device) => deviceId === undefined || device.deviceId === deviceId);
  if (devices.length === 0) throw new Refusal('amqp:not-found', 'There is no device that could send the events.');
  const logins = devices.map((device) => access.presume(device.deviceId));
  const binaryBody = text === undefined ? Buffer.alloc(bytes, 'x') : Buffer.from(text);
  const body =
    sections === undefined ? { body: binaryBody } : { body: Buffer.from(sections, 'base64'), isEncoded: true };
  for (let sent = 0; sent < count; sent++) {
    const login = logins[sent % logins.length];
    if (login) events.accept(login, { system: {}, properties, ...body });
    if (sent % atOnce === atOnce - 1) await turn(); // others come in between
  }
  return count;
}
