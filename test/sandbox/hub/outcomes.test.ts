import { afterAll, beforeAll, expect, test } from 'vitest';
import { serviceClient, serviceMessage } from './support/clients.ts';
import { freshHub } from './support/hub.ts';

let hub: Awaited<ReturnType<typeof freshHub>>;
beforeAll(async () => {
  hub = await freshHub();
  hub.registry.create('known');
});
afterAll(() => hub.stop());

test.each([
  ['known', 'unknown'],
  ['unknown', 'known'],
  ['known', 'unknown', 'known', 'unknown', 'unknown', 'known', 'known'],
])('neighbouring messages get each its own outcome: to %s, %s …', async (...receivers) => {
  const service = serviceClient(hub);
  await service.open();
  await service.send('known', serviceMessage('attaches the link'));
  const outcomes = await Promise.all(
    receivers.map((deviceId) =>
      service.send(deviceId, serviceMessage('hello')).then(
        () => 'known',
        () => 'unknown',
      ),
    ),
  );
  await service.close();
  expect(outcomes).toEqual(receivers);
});
