import type { BoundBackends } from '../backends/backends.ts';
import type { Envelope } from '../protocol/envelope.ts';
import { defaultModel } from '../protocol/fields.ts';
import { bytesOf } from '../protocol/json.ts';
import { Rejection } from '../protocol/rejection.ts';
import type { Notification } from '../protocol/reply.ts';
import { keptOf, pathOf, type RegisteredModel } from './storedModel.ts';

/** The request-response notification of a requested model. It goes to the target of the request. */
export const requestedNotifications = (
  { objectId, model, created }: Pick<RegisteredModel, 'objectId' | 'model' | 'created'>,
  body: Buffer,
  { deviceId, target }: Envelope,
): Notification => ({ eventType: eventTypeOf(created), deviceId, target, objectId, model, body });

const eventTypeOf = (created: boolean): Notification['eventType'] =>
  created ? 'Svc.InformationModel.ObjectModelCreated' : 'Svc.InformationModel.ObjectModelUpdated';

const configurationModel = 'svc.configuration';

/**
 * The publish-subscribe notification of a registered `svc.device` model: the `svc.configuration` model of the same object, for the device of its
 * owner, or else of the owner of the `svc.device` model (A11). If it cannot be read, there is only a remark.
 */
export async function configurationNews(
  { objectId, model, path, createdModels }: RegisteredModel,
  { informationModel }: BoundBackends,
): Promise<typeof noNews> {
  if (model !== defaultModel) return noNews;
  try {
    const configuration = await informationModel.getModel(objectId, configurationModel);
    if (configuration === undefined) return noNews;
    const [deviceId = '', ...target] = (pathOf(configuration) ?? path)?.split('/') ?? [];
    if (deviceId === '') return noNews;
    const notification: Notification = {
      eventType: eventTypeOf(createdModels.includes(configurationModel)),
      deviceId,
      target: target.join('/'),
      objectId,
      model: configurationModel,
      body: keptOf(bytesOf(configuration)),
    };
    return { notifications: [notification], remarks: [] };
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    return { notifications: [], remarks: [`no notification of ${configurationModel}: ${error.details}`] };
  }
}

export const noNews: { notifications: Notification[]; remarks: readonly string[] } = { notifications: [], remarks: [] };
