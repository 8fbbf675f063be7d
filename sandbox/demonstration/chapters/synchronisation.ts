import type { Exchange } from '../demonstrate.ts';
import { anyGuid, type Pattern } from '../pattern.ts';
import type { Request, Step } from '../step.ts';
import { event, news, objectIdOf, success } from '../wire.ts';

type Model = Readonly<Record<string, Pattern>> & { objectId: Pattern; model: string };

/** What the pump has said about itself and its parts in earlier chapters. */
const plant = (earlier: readonly Exchange[]) => {
  const pumpId = objectIdOf(earlier, 'first-boot');
  const owned = { ownerId: anyGuid, path: 'pump-1' };
  const pump: Model = {
    name: 'Feed pump',
    objectId: pumpId,
    model: 'svc.device',
    type: 'pump@2.0.0',
    properties: { serial: 'FP-2041', location: 'turbine hall', maximumPressure: 16.5, runningHours: 12 },
    variables: { pressure: 3.2 },
    version: 3,
    ...owned,
  };
  const configuration: Model = {
    name: 'Feed pump',
    objectId: pumpId,
    model: 'svc.configuration',
    type: 'pump.settings@1.0.0',
    properties: { serial: 'FP-2041', reportInterval: 60, unit: 'bar' },
    variables: {},
    version: 1,
    ...owned,
  };
  const flowMeter: Model = {
    name: 'Flow meter',
    objectId: objectIdOf(earlier, 'its-flow-meter'),
    model: 'svc.device',
    type: 'flow-meter@1.0.0',
    properties: { serial: 'FM-7', diameter: 80 },
    variables: {},
    version: 1,
    ...owned,
  };
  return { pumpId, pump, configuration, flowMeter };
};

const ask = (id: string, objectId: string, options: unknown) =>
  event('Svc.Device.SyncModel', id, options, { objectId, model: 'svc.device' });

/** One notification for each model, then the acknowledgement. */
const brings = (request: Request, objectId: string, models: readonly Model[]) => ({
  request,
  replies: [
    ...models.map((model) => news(request, 'ObjectModelUpdated', model)),
    success(request, {}, { objectId, model: 'svc.device' }),
  ],
});

/** `Svc.Device.SyncModel`. */
export const synchronisation: readonly Step[] = [
  {
    title: 'A new computer takes over the pump: it fetches the pump and its parts',
    device: 'pump-1',
    exchange(earlier) {
      const { pumpId, pump, flowMeter } = plant(earlier);
      return brings(ask('parts', pumpId, { hierarchical: true }), pumpId, [pump, flowMeter]);
    },
  },
  {
    title: 'It fetches what the pump contains, and what that contains, and so on',
    device: 'pump-1',
    isRepeat: true,
    exchange(earlier) {
      const { pumpId, pump, flowMeter } = plant(earlier);
      const request = ask('contents', pumpId, { references: ['contains'], recursive: true });
      return brings(request, pumpId, [pump, flowMeter]);
    },
  },
  {
    title: 'It fetches the pump with its configuration, and nothing else',
    device: 'pump-1',
    isRepeat: true,
    exchange(earlier) {
      const { pumpId, pump, configuration } = plant(earlier);
      return brings(ask('configuration', pumpId, { related: ['svc.configuration'] }), pumpId, [pump, configuration]);
    },
  },
];
