import { anyGuid } from '../pattern.ts';
import type { Step } from '../step.ts';
import { action, objectIdOf, refusal, success } from '../wire.ts';

const flowMeter = {
  typeId: 'flow-meter',
  version: '1.0.0',
  unique: ['serial'],
  properties: {
    serial: { dataType: 'string', isMandatory: true, description: 'Number on the plate' },
    diameter: { dataType: 'number', description: 'Of the pipe, in millimetres' },
  },
  variables: { flow: { dataType: 'number', description: 'Flow now, in litres a minute' } },
};

const defineIt = action('type.create', 'flow-meter', flowMeter);
const defineItAgain = action('type.create', 'flow-meter-again', flowMeter);

const flowMeterOfPump = action('model.create', 'its-flow-meter', {
  model: 'svc.device',
  type: 'flow-meter',
  name: 'Flow meter',
  properties: { serial: 'FM-7', diameter: 80 },
});

const contains = (id: string, pump: string, part: string) =>
  action(
    'reference.create',
    id,
    [{ name: 'contains', to: { objectId: part, model: 'svc.device' }, attributes: { isContained: true } }],
    { objectId: pump },
  );

/** `type.create` and `reference.create`. */
export const definitions: readonly Step[] = [
  {
    title: 'The pump has a flow meter of a type that nobody knows yet: it defines the type',
    device: 'pump-1',
    exchange: () => ({
      request: defineIt,
      replies: [success(defineIt, { typeId: 'flow-meter', model: 'svc.device', version: '1.0.0' })],
    }),
  },
  {
    title: 'The same version of a type again is refused: it never changes',
    device: 'pump-1',
    isRepeat: true,
    exchange: () => ({
      request: defineItAgain,
      replies: [refusal(defineItAgain, 'http_response_error', /HTTP 409: Already exists/)],
    }),
  },
  {
    title: 'Now it can register the flow meter',
    device: 'pump-1',
    isRepeat: true,
    exchange: () => ({
      request: flowMeterOfPump,
      replies: [success(flowMeterOfPump, { objectId: anyGuid, relatedModels: [] })],
    }),
  },
  {
    title: 'It says that the flow meter is a part of the pump',
    device: 'pump-1',
    exchange(earlier) {
      const parts = [objectIdOf(earlier, 'first-boot'), objectIdOf(earlier, 'its-flow-meter')] as const;
      const request = contains('part', ...parts);
      return { request, replies: [success(request)] };
    },
  },
  {
    title: 'It may say so again',
    device: 'pump-1',
    isRepeat: true,
    exchange(earlier) {
      const parts = [objectIdOf(earlier, 'first-boot'), objectIdOf(earlier, 'its-flow-meter')] as const;
      const request = contains('part-again', ...parts);
      return { request, replies: [success(request)] };
    },
  },
];
