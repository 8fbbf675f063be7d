import { afterEach, describe, expect, it } from 'vitest';
import { expectFailure } from './support/failing.ts';
import { methodDevice } from './support/methodDevice.ts';
import { conveyor, flap, type Place, startPlace } from './support/place.ts';

// Much at once: the share of a device, all together, and a stop under load (M8, M1).

let place: Place | undefined;
afterEach(() => place?.close());
const start = async (settings: Record<string, string>) => {
  place = await startPlace({ settings });
  return place;
};

describe('a device that is slow', () => {
  it('has its share of invocations, beyond which its callers are told to come again; others are not held up', async () => {
    const there = await start({ METHODS_IN_FLIGHT_PER_DEVICE: '3' });
    const motor = await methodDevice(there.hub, 'motor-1');
    const gateway = await methodDevice(there.hub, 'gateway-1', (call) => call.respond(200, { status: 1 }));
    const slow = [1, 2, 3].map(() => there.call(conveyor, 'stop'));
    const calls = [await motor.next(), await motor.next(), await motor.next()];

    const fourth = await there.call(conveyor, 'stop');
    await expectFailure(there, fourth, 503, 'overloaded', /3 invocations in work, which is its share/);
    expect(fourth.headers['retry-after']).toBe('1');
    expect((await there.call(flap, 'stop')).status).toBe(200);

    calls[0]?.respond(200, { status: 1 });
    expect((await slow[0])?.status).toBe(200);
    const next = there.call(conveyor, 'stop');
    const last = await motor.next();
    for (const call of [...calls.slice(1), last]) call.respond(200, { status: 2 });
    expect((await Promise.all([...slow, next])).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await Promise.all([motor.close(), gateway.close()]);
  });
});

describe('the front door', () => {
  it('takes a thousand invocations at once, refuses one more, and has forgotten all of them afterwards', async () => {
    const there = await start({ METHODS_IN_FLIGHT_PER_DEVICE: '1000' });
    const motor = await methodDevice(there.hub, 'motor-1');
    const calling = Array.from({ length: 1_000 }, () => there.call(conveyor, 'stop', { timeout: 120 }));
    for (let count = 0; count < 1_000; count += 1) await motor.next();
    const refused = await there.call(flap, 'stop');
    await expectFailure(there, refused, 503, 'overloaded', /too many invocations in work/);
    for (const [index, call] of motor.received.entries()) call.respond(200, { status: index });
    const answers = await Promise.all(calling);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ json }) => json.status)).size).toBe(1_000);

    const again = there.call(conveyor, 'stop');
    (await motor.next()).respond(200, { status: 0 });
    expect((await again).status).toBe(200);
    await motor.close();
  });

  it('that stops finishes what is in work, and takes nothing more', async () => {
    const there = await start({ METHODS_DRAIN_SECONDS: '20' });
    const motor = await methodDevice(there.hub, 'motor-1');
    const calling = [1, 2, 3].map(() => there.call(conveyor, 'stop'));
    const calls = [await motor.next(), await motor.next(), await motor.next()];
    const stopped = there.door.stop();
    await expect(fetch(`${there.url}/openapi.json`)).rejects.toThrow();
    for (const call of calls) call.respond(200, { status: 7 });
    for (const answered of await Promise.all(calling)) {
      expect(answered.json).toEqual({ status: 7 });
      expect(answered.headers['connection']).toBe('close');
    }
    await stopped;
    await motor.close();
  });

  it('that may not wait any longer says that the outcome is unknown', async () => {
    const there = await start({ METHODS_DRAIN_SECONDS: '1' });
    const motor = await methodDevice(there.hub, 'motor-1');
    const calling = there.call(conveyor, 'stop', { timeout: 300 });
    await motor.next();
    const stopped = there.door.stop();
    await expectFailure(there, await calling, 504, 'no_reply', /may have run/);
    await stopped;
    await motor.close();
  });
});

describe('a caller that goes away', () => {
  it('leaves no trace but the line in the log, and the room is free again when the device has answered', async () => {
    const there = await start({ METHODS_IN_FLIGHT_PER_DEVICE: '1' });
    const motor = await methodDevice(there.hub, 'motor-1');
    const impatient = new AbortController();
    const headers = {
      authorization: `Bearer ${there.tokens.invoker}`,
      'content-type': 'application/json',
      'x-correlation-id': 'gone',
    };
    const request = { method: 'POST', headers, body: '{}', signal: impatient.signal };
    const calling = fetch(there.url + there.pathOf(conveyor, 'stop'), request).catch(() => 'gone');
    const call = await motor.next();
    impatient.abort();
    expect(await calling).toBe('gone');
    expect((await there.call(conveyor, 'stop')).status).toBe(503);
    call.respond(200, { status: 0 });
    expect(await there.lineOf('gone')).toMatchObject({ callerGone: true, methodStatus: 0 });
    const next = there.call(conveyor, 'stop');
    (await motor.next()).respond(200, { status: 0 });
    expect((await next).status).toBe(200);
    await motor.close();
  });

  it('before its body has come holds no room', async () => {
    const there = await start({ METHODS_IN_FLIGHT_PER_DEVICE: '1' });
    const motor = await methodDevice(there.hub, 'motor-1', (call) => call.respond(200, { status: 0 }));
    const { connect } = await import('node:net');
    const socket = connect(there.door.port, '127.0.0.1');
    socket.write(
      `POST ${there.pathOf(conveyor, 'stop')} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${there.tokens.invoker}\r\ncontent-type: application/json\r\nx-correlation-id: half\r\ncontent-length: 20\r\n\r\n{`,
    );
    const { journal } = there.backends;
    await expect.poll(() => journal.entries().some(({ headers }) => headers['x-correlation-id'] === 'half')).toBe(true);
    socket.destroy();
    expect(await there.lineOf('half')).toMatchObject({ callerGone: true });
    expect((await there.call(conveyor, 'stop')).status).toBe(200);
    await motor.close();
  });
});
