import { hubEvent } from '../../support/events.ts';
import { device, devicePrincipal, noConfiguration, problem, pumpAnswer, pumpId } from '../../support/world.ts';

export const properties = { msgType: 'action', action: 'model.create', version: 2, correlationId: 'c-1', ack: 'all' };
export const pumpBody = { objectId: pumpId, model: 'svc.device', type: 'pump', properties: { serial: 'FP-1' } };
export const event = hubEvent({ properties, body: pumpBody });

export const success = [
  device,
  { call: `GET /objects/${pumpId}/models/svc.device`, reply: problem(404, 'Not found') },
  { call: `POST /object?owner=${devicePrincipal}`, reply: [201, pumpAnswer()] },
  noConfiguration(pumpId),
] as const;

export const failing = [{ call: device.call, reply: [200, '<html>'] }] as const;
