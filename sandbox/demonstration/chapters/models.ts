import { anyGuid, type Pattern } from '../pattern.ts';
import type { Step } from '../step.ts';
import { action, news, objectIdOf, refusal, success } from '../wire.ts';

const pump = {
  model: 'svc.device',
  type: 'pump',
  name: 'Feed pump',
  properties: { serial: 'FP-2041', location: 'boiler house', maximumPressure: 16.5 },
};

/** The pump's configuration model, which its type brings along. */
const configuration = (objectId: Pattern) => ({
  name: 'Feed pump',
  objectId,
  model: 'svc.configuration',
  type: 'pump.settings@1.0.0',
  properties: { serial: 'FP-2041', reportInterval: 60, unit: 'bar' },
  variables: {},
  version: 1,
  ownerId: anyGuid,
  path: 'pump-1',
});

const relatedModels = [{ model: 'svc.configuration', success: true, code: 'ok', details: '' }];

const firstBoot = action('model.create', 'first-boot', pump);
const secondBoot = action('model.create', 'second-boot', pump);
const mistake = action('model.create', 'mistake', { ...pump, type: undefined, objectId: 'not a guid' });

const replacement = (id: string, objectId: string) =>
  action(
    'model.update',
    id,
    {
      type: 'pump',
      properties: { serial: 'FP-2041', location: 'turbine hall', maximumPressure: 16.5, runningHours: 12 },
      variables: { pressure: 3.2 },
      version: 2,
    },
    { objectId },
  );

/** `model.create` and `model.update`. */
export const models: readonly Step[] = [
  {
    title: 'A pump registers itself',
    device: 'pump-1',
    exchange: () => ({
      request: firstBoot,
      replies: [
        news(firstBoot, 'ObjectModelCreated', configuration(anyGuid)),
        success(firstBoot, { objectId: anyGuid, relatedModels }),
      ],
    }),
  },
  {
    title: 'It does so again after a restart: the same object, one version on',
    device: 'pump-1',
    isRepeat: true,
    exchange(earlier) {
      const objectId = objectIdOf(earlier, 'first-boot');
      return {
        request: secondBoot,
        replies: [
          news(secondBoot, 'ObjectModelUpdated', configuration(objectId)),
          success(secondBoot, { objectId, relatedModels }),
        ],
      };
    },
  },
  {
    title: 'A message with a mistake in it is answered too',
    device: 'pump-1',
    exchange: () => ({
      request: mistake,
      replies: [refusal(mistake, 'http_response_error', /objectId must be a GUID/, { relatedModels: [] })],
    }),
  },
  {
    title: 'The pump has been moved: it replaces its properties and variables',
    device: 'pump-1',
    exchange(earlier) {
      const objectId = objectIdOf(earlier, 'first-boot');
      const request = replacement('moved', objectId);
      return { request, replies: [success(request, { objectId, model: 'svc.device', version: 3 })] };
    },
  },
  {
    title: 'The same update again is refused: the version it replaces is gone',
    device: 'pump-1',
    isRepeat: true,
    exchange(earlier) {
      const request = replacement('moved-again', objectIdOf(earlier, 'first-boot'));
      return { request, replies: [refusal(request, 'http_response_error', /HTTP 409: Version mismatch/)] };
    },
  },
];
