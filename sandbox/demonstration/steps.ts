import type { Exchange } from './demonstrate.ts';
import { anyGuid, anyTimestamp, type Pattern } from './pattern.ts';

/** One message of a device and everything it has to get back, in order. The wire is spelled by hand here, on purpose. */
export interface Step {
  title: string;
  device: string;
  /** May refer to what earlier steps brought, an object id for example. */
  request(earlier: readonly Exchange[]): { properties: Record<string, string>; body: unknown };
  replies: readonly ExpectedReply[];
}

/** Compared exactly, but for the patterns in it. */
export interface ExpectedReply {
  properties: Record<string, Pattern>;
  body: Pattern;
}

const pump = {
  model: 'svc.device',
  type: 'pump',
  name: 'Feed pump',
  properties: { serial: 'FP-2041', location: 'boiler house', maximumPressure: 16.5 },
};

export const steps: readonly Step[] = [
  {
    title: 'A pump registers itself',
    device: 'pump-1',
    request: () => v2('model.create', 'first-boot', pump),
    replies: [configurationNews('ObjectModelCreated', 1), registered('first-boot')],
  },
  {
    title: 'It does so again after a restart: the same object, one version on',
    device: 'pump-1',
    request: () => v2('model.create', 'second-boot', pump),
    replies: [configurationNews('ObjectModelUpdated', 1), registered('second-boot')],
  },
  {
    title: 'A message with a mistake in it is answered too',
    device: 'pump-1',
    request: () => v2('model.create', 'mistake', { ...pump, type: undefined, objectId: 'not a guid' }),
    replies: [
      {
        properties: acknowledgement('model.create', 'mistake'),
        body: { success: false, code: 'http_response_error', details: /objectId must be a GUID/, relatedModels: [] },
      },
    ],
  },
];

function v2(action: string, correlationId: string, body: unknown) {
  return { properties: { msgType: 'action', action, version: '2', correlationId, ack: 'all' }, body };
}

function acknowledgement(action: string, correlationId: string): Record<string, Pattern> {
  return { msgType: 'ack', action, version: '2', correlationId, target: '', timestamp: anyTimestamp };
}

function registered(correlationId: string): ExpectedReply {
  return {
    properties: acknowledgement('model.create', correlationId),
    body: {
      success: true,
      code: 'ok',
      details: '',
      objectId: anyGuid,
      relatedModels: [{ model: 'svc.configuration', success: true, code: 'ok', details: '' }],
    },
  };
}

/** The pump's configuration, which is sent along as a publish-subscribe notification. */
function configurationNews(eventType: string, version: number): ExpectedReply {
  return {
    properties: {
      'svc-messagetype': 'platformEvent',
      eventType: `Svc.InformationModel.${eventType}`,
      id: /./,
      objectId: anyGuid,
      model: 'svc.configuration',
      target: '',
    },
    body: {
      name: 'Feed pump',
      objectId: anyGuid,
      model: 'svc.configuration',
      type: 'pump.settings@1.0.0',
      properties: { serial: 'FP-2041', reportInterval: 60, unit: 'bar' },
      variables: {},
      version,
      ownerId: anyGuid,
      path: 'pump-1',
    },
  };
}
