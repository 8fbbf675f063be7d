import { anyGuid, type Pattern } from '../pattern.ts';
import type { Step } from '../step.ts';
import { event, news, objectIdOf, refusal, success } from '../wire.ts';

const gatewayBoot = event('Svc.Device.Created', 'gateway-boot', {
  type: 'gateway',
  name: 'Gateway of hall 2',
  properties: { serial: 'GW-1', firmware: '4.1.0' },
});

const gateway = {
  name: 'Gateway of hall 2',
  objectId: anyGuid,
  model: 'svc.device',
  type: 'gateway@1.0.0',
  properties: { serial: 'GW-1', firmware: '4.1.0' },
  variables: {},
  version: 1,
  ownerId: anyGuid,
  path: 'gateway-1',
};

const gatewayConfiguration = {
  name: 'Gateway of hall 2',
  objectId: anyGuid,
  model: 'svc.configuration',
  type: 'gateway.settings@1.0.0',
  properties: { logLevel: 'info' },
  variables: {},
  version: 1,
  ownerId: anyGuid,
  path: 'gateway-1',
};

const relatedModels = [{ model: 'svc.configuration', success: true, code: 'ok', details: '' }];
const sensorPath = 'edge/sensor-1';

/** A device behind the gateway keeps its own object id, so that a repeat finds it although a sensor has no serial. */
const sensorId = '5e45012a-0000-4000-8000-000000000001';

const sensor = (version: number, more: Record<string, Pattern> = {}) => ({
  name: 'Boiler temperature',
  objectId: sensorId,
  model: 'svc.device',
  type: 'sensor@1.0.0',
  properties: { quantity: 'temperature', unit: '°C' },
  variables: {},
  version,
  ownerId: anyGuid,
  path: `gateway-1/${sensorPath}`,
  ...more,
});

const sensorBoot = (id: string, gatewayId: string) =>
  event(
    'Svc.Device.Created',
    id,
    {
      type: 'sensor',
      name: 'Boiler temperature',
      properties: { quantity: 'temperature', unit: '°C' },
      parent: { objectId: gatewayId, reference: 'contains' },
    },
    { objectId: sensorId, owner: sensorPath, target: sensorPath },
  );

const reading = (id: string) =>
  event(
    'Svc.Device.Updated',
    id,
    {
      type: 'sensor',
      properties: { quantity: 'temperature', unit: 'K' },
      variables: { value: 351.25 },
      version: 2,
    },
    { objectId: sensorId, target: sensorPath },
  );
const firstReading = reading('reading');
const sameReading = reading('reading-again');
const ofSensor = { objectId: sensorId, model: 'svc.device' };

/** `Svc.Device.Created` and `Svc.Device.Updated`. */
export const events: readonly Step[] = [
  {
    title: 'The gateway registers itself with an event, and gets its object model back',
    device: 'gateway-1',
    exchange: () => ({
      request: gatewayBoot,
      replies: [
        news(gatewayBoot, 'ObjectModelCreated', gateway),
        news(gatewayBoot, 'ObjectModelCreated', gatewayConfiguration),
        success(gatewayBoot, { relatedModels }, { objectId: anyGuid, model: 'svc.device' }),
      ],
    }),
  },
  {
    title: 'It registers a sensor behind it, with itself as the parent',
    device: 'gateway-1',
    exchange(earlier) {
      const request = sensorBoot('sensor-boot', objectIdOf(earlier, 'gateway-boot'));
      return {
        request,
        replies: [
          news(request, 'ObjectModelCreated', sensor(1), sensorPath),
          success(request, { relatedModels: [] }, ofSensor),
        ],
      };
    },
  },
  {
    title: 'After the next boot the same request finds the sensor and updates it',
    device: 'gateway-1',
    isRepeat: true,
    exchange(earlier) {
      const request = sensorBoot('sensor-boot-again', objectIdOf(earlier, 'gateway-boot'));
      return {
        request,
        replies: [
          news(request, 'ObjectModelUpdated', sensor(2), sensorPath),
          success(request, { relatedModels: [] }, ofSensor),
        ],
      };
    },
  },
  {
    title: 'The sensor has changed its unit: its properties and variables are replaced',
    device: 'gateway-1',
    exchange: () => ({ request: firstReading, replies: [success(firstReading, { version: 2 }, ofSensor)] }),
  },
  {
    title: 'The same event again is refused: the version it replaces is gone',
    device: 'gateway-1',
    isRepeat: true,
    exchange: () => ({
      request: sameReading,
      replies: [refusal(sameReading, 'http_response_error', /HTTP 409: Version mismatch/, { version: 2 }, ofSensor)],
    }),
  },
];
