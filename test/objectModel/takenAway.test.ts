import { expect, it } from 'vitest';
import { dispatchEvent } from '../support/dispatching.ts';
import { hubEvent } from '../support/events.ts';
import { device, devicePrincipal, otherPumpId, problem, pumpAnswer, pumpId } from '../support/world.ts';

it('A message whose partition is lost while the parent is set is left to the next reader, although the model exists', async () => {
  const taken = new AbortController();
  const sent = hubEvent({
    properties: { 'svc-messagetype': 'platformEvent', eventType: 'Svc.Device.Created', id: 'c-1', ack: 'all' },
    body: { objectId: pumpId, type: 'pump', parent: { objectId: otherPumpId, reference: 'isPartOf' } },
  });
  const model = `/objects/${pumpId}/models/svc.device`;
  const handling = dispatchEvent(
    sent,
    [
      device,
      { call: `GET ${model}`, reply: problem(404, 'Not found') },
      { call: `POST /objects/${pumpId}?owner=${devicePrincipal}`, reply: [201, pumpAnswer()] },
      { call: `GET ${model}/references/out`, reply: problem(503, 'Busy'), onCall: () => taken.abort() },
    ],
    { ended: taken.signal },
  );
  expect(await handling).toMatchObject({ handled: false, replies: [], parked: [], logged: [] });
});
