import type { BoundBackends } from '../backends/backends.ts';
import { defaultModel } from '../protocol/fields.ts';
import type { Notification } from '../protocol/notification.ts';
import { locate, type Registered } from './storedModel.ts';

const configurationModel = 'svc.configuration';

/**
 * The publish-subscribe notification of a registered `svc.device` model: the `svc.configuration` model of the same
 * object, for the device through which its owner is connected (A11).
 */
export async function configurationNews(
  { objectId, model, stored, createdModels }: Registered,
  { informationModel }: BoundBackends,
): Promise<Notification[]> {
  const { path } = locate(stored);
  if (model !== defaultModel || path === undefined) return [];
  const configuration = await informationModel.getModel(objectId, configurationModel);
  if (configuration === undefined) return [];
  const [deviceId = '', ...target] = path.split('/');
  return [
    {
      eventType: createdModels.includes(configurationModel)
        ? 'Svc.InformationModel.ObjectModelCreated'
        : 'Svc.InformationModel.ObjectModelUpdated',
      deviceId,
      target: target.join('/'),
      objectId,
      model: configurationModel,
      body: configuration.text,
    },
  ];
}
