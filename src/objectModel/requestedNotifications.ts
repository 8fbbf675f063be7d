import type { Envelope } from '../protocol/envelope.ts';
import type { Notification } from '../protocol/notification.ts';
import type { RegisteredModel } from './storedModel.ts';

/** The request-response notification of a requested model. It goes to the target of the request. */
export const requestedNotifications = (
  { objectId, model, created }: Pick<RegisteredModel, 'objectId' | 'model' | 'created'>,
  body: Buffer,
  { deviceId, target }: Envelope,
): Notification => ({
  eventType: created ? 'Svc.InformationModel.ObjectModelCreated' : 'Svc.InformationModel.ObjectModelUpdated',
  deviceId,
  target,
  objectId,
  model,
  body,
});
