import { describe, expect, it } from 'vitest';
import { startForAll, startForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { expectFailure } from './support/expectFailure.ts';
import { methodDevice } from './support/methodDevice.ts';
import { conveyor, idle, startTestFrontDoor } from './support/testFrontDoor.ts';

// Devices that are offline or go away (M8). What they may respond is in methodResponse.test.ts.

const setup = startForAll(startTestFrontDoor);
const motor = startForEach(() => methodDevice(setup.hub, 'motor-1'));

describe('a device', () => {
  it('that is offline is reported at once {S23.9}', async () => {
    const line = await expectFailure(setup, await setup.call(idle, 'stop'), 503, 'device_offline', /not connected/);
    expect(line).toMatchObject({ device: 'motor-2', hubStatus: 404, errorCode: 404103 });
  });

  it('that is connected without listening to methods is reported as offline', async () => {
    motor.raw.send({ cmd: 'unsubscribe', messageId: 2, unsubscriptions: ['$iothub/methods/POST/#'] });
    await motor.raw.next('unsuback');
    await expectFailure(setup, await setup.call(conveyor, 'stop'), 503, 'device_offline', /does not listen to methods/);
  });

  it('that disconnects with the call in its hand leaves the outcome unknown, however fast', async () => {
    const calling = setup.call(conveyor, 'stop', { timeout: 5 });
    await motor.next();
    await motor.close();
    const line = await expectFailure(setup, await calling, 504, 'outcome_unknown', /perhaps during the call/);
    expect(line['errorCode']).toBe(404103);
  });

  it('for which the hub has waited in vain was not called, however late the hub says so', async () => {
    setup.hub.faults.add({ kind: 'method', answer: 'delay', ms: 1_200, times: 1 });
    const line = await expectFailure(
      setup,
      await setup.call(idle, 'stop'),
      503,
      'device_offline',
      /nothing was invoked/,
    );
    expect(line['errorCode']).toBe(404103);
  });
});
