import { type Reply, systemCorrelationId, withValues } from './c2d.ts';
import { type Envelope, messageId } from './envelope.ts';

/** Tells a device about an object model; the body is the backend's own text of the model (R5). */
export interface Notification {
  readonly eventType: 'Svc.InformationModel.ObjectModelCreated' | 'Svc.InformationModel.ObjectModelUpdated';
  readonly deviceId: string;
  readonly target: string;
  readonly objectId: string;
  readonly model: string;
  readonly body: Buffer;
}

/*
 * svc-messagetype = platformEvent   eventType   id   objectId   model   [target]        body: the object model
 * Always in V1 format (A11).
 */
export function notify(envelope: Envelope, notification: Notification): Reply {
  const { deviceId, eventType, objectId, model, target, body } = notification;
  const id = envelope.correlationId;
  return {
    kind: 'notification',
    deviceId,
    messageId: messageId(envelope, `about ${model} of ${objectId.toLowerCase()}`),
    correlationId: systemCorrelationId(id),
    properties: withValues({
      'svc-messagetype': 'platformEvent',
      eventType,
      id: id ?? '',
      objectId,
      model,
      target,
    }),
    body: body.toString(),
  };
}
