import { v5 } from 'uuid';
import type { Sent } from './history.ts';
import type { Random } from './random.ts';

/** A message that is still to be sent. */
export interface Message extends Sent {
  readonly properties: Readonly<Record<string, string>>;
  readonly body: string;
}

const namespace = '6f0a7d7e-0c58-4a4e-9b6e-0b3f8f8f5c11';
const model = 'svc.device';

/**
 * What devices send: each one registers a pump and then updates it, registers sensors without naming them, changes its
 * identity, and makes mistakes.
 * @returns for each device its messages, in the order in which it sends them
 */
export function createWorkload(random: Random, devices: number, messages: number): Message[][] {
  return Array.from({ length: devices }, (_, index) => ofDevice(`device-${index}`, messages, random));
}

function ofDevice(deviceId: string, count: number, random: Random): Message[] {
  const object = v5(deviceId, namespace);
  let version = 1;

  const next = (id: string, ack: Sent['ack']): Message => {
    const sent = { id, deviceId, ack };
    const timeout = random.next() < 0.05 ? { timeout: '5' } : {};
    const v2 = (action: string) => ({ msgType: 'action', action, version: '2', correlationId: id, ack, ...timeout });
    const pump = { model, type: 'pump@1', properties: { serial: deviceId, location: id } };
    const replace = (from: number): Message => ({
      ...sent,
      intent: { does: 'replace', object, version: from },
      properties: { ...v2('model.update'), objectId: object, model },
      body: JSON.stringify({ ...pump, version: from }),
    });

    if (id.endsWith('-0')) {
      const body = JSON.stringify({ objectId: object, ...pump });
      return { ...sent, intent: { does: 'create', object }, properties: v2('model.create'), body };
    }
    const dice = random.next();
    if (dice < 0.4) return replace(version++);
    if (dice < 0.5) {
      const v1 = { 'svc-messagetype': 'platformEvent', eventType: 'Svc.Device.Updated', id, ack, objectId: object };
      return { ...replace(version++), properties: v1 };
    }
    if (dice < 0.6) return replace(version - 1); // stale, and refused unless what should have come before had failed
    if (dice < 0.75) {
      const sensor = { model, type: 'sensor@1', properties: { quantity: id } };
      return { ...sent, intent: { does: 'create' }, properties: v2('model.create'), body: JSON.stringify(sensor) };
    }
    if (dice < 0.9) {
      const body = JSON.stringify({ publicKey: id });
      return { ...sent, intent: { does: 'identify' }, properties: v2('identity.update'), body };
    }
    const refusal = random.pick(refusals);
    return {
      ...sent,
      intent: { does: 'nothing', code: refusal.code },
      properties: refusal.code === undefined ? {} : v2(refusal.action),
      body: '{}',
    };
  };

  return Array.from({ length: count }, (_, index) =>
    next(`${deviceId}-${index}`, random.pick(['all', 'all', 'all', 'positive', 'negative', 'none'])),
  );
}

/** What is refused, and with which code; the last is not for this service. */
const refusals = [
  { action: 'model.update', code: 'validation_error' },
  { action: 'model.query', code: 'operation_not_supported' },
  { action: '', code: undefined },
] as const;
