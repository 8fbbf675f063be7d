import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Reason } from '../../src/methods/failure.ts';
import { expectFailure } from './support/failing.ts';
import { type MethodDevice, methodDevice } from './support/methodDevice.ts';
import { conveyor, idle, type Place, startPlace } from './support/place.ts';

// Devices that are away, slow, or answer what they should not (M7, M8).

let place: Place;
let motor: MethodDevice;
beforeAll(async () => {
  place = await startPlace();
});
beforeEach(async () => {
  motor = await methodDevice(place.hub, 'motor-1');
});
afterEach(() => motor.close());
afterAll(() => place.close());

describe('a device', () => {
  it('that is offline is an answer at once, not a wait', async () => {
    const line = await expectFailure(place, await place.call(idle, 'stop'), 503, 'device_offline', /not connected/);
    expect(line).toMatchObject({ device: 'motor-2', hubStatus: 404, errorCode: 404103 });
  });

  it('that is connected without listening is told as one that is offline', async () => {
    motor.raw.send({ cmd: 'unsubscribe', messageId: 2, unsubscriptions: ['$iothub/methods/POST/#'] });
    await motor.raw.next('unsuback');
    await expectFailure(place, await place.call(conveyor, 'stop'), 503, 'device_offline', /does not listen to methods/);
  });

  it('that goes away in the moment of the call cannot be told from one that is offline', async () => {
    const calling = place.call(conveyor, 'stop', { timeout: 5 });
    await motor.next();
    await motor.close();
    await expectFailure(place, await calling, 503, 'device_offline', /unless it went away in this very moment/);
    motor = await methodDevice(place.hub, 'motor-1');
  });

  it('that goes away later during the call leaves its outcome unknown', async () => {
    place.hub.faults.add({ kind: 'method', answer: 'delay', ms: 1_200, times: 1 });
    const line = await expectFailure(place, await place.call(idle, 'stop'), 504, 'outcome_unknown', /went away/);
    expect(line['errorCode']).toBe(404103);
  });

  it('that answers too late is not heard, and the next answer is not mistaken for its', async () => {
    const calling = place.call(conveyor, 'stop', { timeout: 5 });
    const late = await motor.next();
    await expectFailure(place, await calling, 504, 'no_reply', /did not answer in time/);
    late.respond(200, { status: 1 });
    const again = place.call(conveyor, 'stop', { timeout: 5 });
    (await motor.next()).respond(200, { status: 2 });
    expect((await again).json).toEqual({ status: 2 });
  });

  it.each<[string, (deviceId: string) => void]>([
    ['disabled', (deviceId) => void place.hub.registry.update(deviceId, { status: 'disabled' })],
    ['unknown to the hub', (deviceId) => void place.hub.registry.delete(deviceId)],
  ])('that is %s', async (_, change) => {
    change('motor-2');
    const called = await place.call(idle, 'stop');
    const line = await expectFailure(
      place,
      called,
      503,
      'device_unknown',
      /does not know the device, or has it disabled/,
    );
    expect(line['errorCode']).toBe(404001);
  });
});

const answered = async (status: number, payload: unknown) => {
  const calling = place.call(conveyor, 'stop');
  (await motor.next()).respond(status, payload);
  return calling;
};
const nested = (depth: number) => `{"status":0,"output":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`;

describe('an answer of the device', () => {
  it.each<[string, number, unknown, RegExp]>([
    ['that is no JSON', 200, 'all right', /does not answer as it should/],
    ['that is empty', 200, '', /no JSON object/],
    ['that is no object', 200, [1], /no JSON object/],
    ['without a status', 200, { output: {} }, /no integer status/],
    ['with a status as text', 200, { status: '0' }, /no integer status/],
    ['with a status that is no integer', 200, { status: 0.5 }, /no integer status/],
    ['whose output is no object', 200, { status: 0, output: 'done' }, /output in its answer is no JSON object/],
    ['nested too deep', 200, nested(80), /nested more than 64 levels deep/],
    ...[0, 201, 401, 403, 409, 413, 429, 500, 999].map((status): [string, number, unknown, RegExp] => [
      `with the status ${status}`,
      status,
      { detail: 'no' },
      new RegExp(`status ${status}, which says nothing here`),
    ]),
  ])('%s is a bad reply', async (_, status, payload, sentence) => {
    await expectFailure(place, await answered(status, payload), 502, 'bad_reply', sentence);
  });

  it('may have 131,072 bytes, and not one more', async () => {
    const room = 131_072 - JSON.stringify({ status: 0, output: { text: '' } }).length;
    const largest = { status: 0, output: { text: '€'.repeat(Math.floor(room / 3)) + 'x'.repeat(room % 3) } };
    expect((await answered(200, largest)).json).toEqual(largest);
    const larger = { status: 0, output: { text: 'x'.repeat(room + 1) } };
    await expectFailure(place, await answered(200, larger), 502, 'bad_reply', /131072 bytes|does not answer/);
  });

  it('of a megabyte ends the device’s connection to the hub, and is not read', async () => {
    const called = await answered(200, { status: 0, output: { text: 'x'.repeat(1024 * 1024) } });
    await expectFailure(place, called, 503, 'device_offline', /unless it went away in this very moment/);
    motor = await methodDevice(place.hub, 'motor-1');
  });

  it.each<[number, Reason, RegExp]>([
    [400, 'refused_by_device', /the device refuses this invocation as it is.*: no such angle$/],
    [404, 'unknown_to_device', /knows nobody who has this object and this method.*: no such angle$/],
    [502, 'failed_at_device', /may have run: no such angle$/],
    [503, 'unavailable_at_device', /has not; repeat it later: no such angle$/],
    [504, 'no_reply_at_device', /may have run, or still be running: no such angle$/],
  ])('with the status %i is passed on with its detail, which is not logged', async (status, reason, sentence) => {
    const called = await answered(status, { detail: 'no such\u001b angle' });
    const line = await expectFailure(place, called, status, reason, sentence);
    expect(JSON.stringify(line)).not.toContain('angle');
  });

  it('has a detail of at most 300 characters, if any', async () => {
    expect((await answered(503, { detail: 'x'.repeat(5_000) })).error?.detail.length).toBeLessThan(420);
    expect((await answered(503, '')).error?.detail).toMatch(/repeat it later$/);
    expect((await answered(503, { detail: 7 })).error?.detail).toMatch(/repeat it later$/);
  });

  it('may have more members, which are not passed on', async () => {
    expect((await answered(200, { status: 0, output: {}, more: 1 })).json).toEqual({ status: 0, output: {} });
  });
});
