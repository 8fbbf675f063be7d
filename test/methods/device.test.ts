import { describe, expect, it } from 'vitest';
import { startForAll, startForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import type { Invoked } from '../../src/protocol/vocabulary.ts';
import { expectFailure } from './support/expectFailure.ts';
import { methodDevice } from './support/methodDevice.ts';
import { conveyor, idle, startTestFrontDoor } from './support/testFrontDoor.ts';

// Devices that are offline, are slow, or send malformed responses (M7, M8).

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

  it('that responds too late is ignored, and the next call gets its own response', async () => {
    const calling = setup.call(conveyor, 'stop', { timeout: 5 });
    const late = await motor.next();
    await expectFailure(setup, await calling, 504, 'no_reply', /did not respond in time/);
    late.respond(200, { status: 1 });
    const again = setup.call(conveyor, 'stop', { timeout: 5 });
    (await motor.next()).respond(200, { status: 2 });
    expect((await again).json).toEqual({ status: 2 });
  });

  it.each<[string, (deviceId: string) => void]>([
    ['disabled', (deviceId) => void setup.hub.registry.update(deviceId, { status: 'disabled' })],
    ['not registered at the hub', (deviceId) => void setup.hub.registry.delete(deviceId)],
  ])('that is %s', async (_, change) => {
    change('motor-2');
    const called = await setup.call(idle, 'stop');
    const line = await expectFailure(setup, called, 503, 'device_unknown', /not registered at the hub, or is disabled/);
    expect(line['errorCode']).toBe(404001);
  });
});

const answered = async (status: number, payload: unknown) => {
  const calling = setup.call(conveyor, 'stop');
  (await motor.next()).respond(status, payload);
  return calling;
};

// What else is wrong with it, and what it may say, are rows of methodResponse.test.ts and causes.test.ts.
describe('a response of the device', () => {
  it.each<[string, number, unknown, RegExp, Invoked?]>([
    ['that is not JSON', 200, 'all right', /is malformed/],
    ['that is not an object {S23.7}', 200, [1], /it is not a JSON object/],
    ['with a status that is not an integer {S23.7}', 200, { status: 0.5 }, /no integer status/],
  ])('%s is a bad reply', async (_, status, payload, sentence, invoked) => {
    await expectFailure(setup, await answered(status, payload), 502, 'bad_reply', sentence, invoked);
  });

  it('of a megabyte ends the connection of the device to the hub', async () => {
    const called = await answered(200, { status: 0, output: { text: 'x'.repeat(1024 * 1024) } });
    await expectFailure(setup, called, 504, 'outcome_unknown', /perhaps during the call/);
  });

  it('with another status is passed on with its detail, without addresses and not logged, and with what has run', async () => {
    const said = { detail: 'no such\u001b angle at https://files.example/a?sig=abc', invoked: 'yes', status: 204 };
    const called = await answered(502, said);
    const sentence = /the device failed to .*; the method has run: no such angle at …$/;
    const line = await expectFailure(setup, called, 502, 'failed_at_device', sentence, 'yes');
    expect(called.error?.meta['status']).toBe(204);
    expect(JSON.stringify(line)).not.toContain('angle');
  });
});
