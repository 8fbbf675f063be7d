import mqtt from 'azure-iot-device-mqtt';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { StandingFault } from '../../sandbox/hub/faults/schema.ts';
import type { Reason } from '../../src/methods/failure.ts';
import { moduleClient } from '../sandbox/hub/support/clients.ts';
import { expectFailure } from './support/failing.ts';
import { type MethodDevice, methodDevice } from './support/methodDevice.ts';
import { conveyor, type Place, startPlace } from './support/place.ts';

// The hub as it throttles, refuses, breaks off or says nothing (M6, M8).

let place: Place;
let motor: MethodDevice;
beforeAll(async () => {
  place = await startPlace({});
  motor = await methodDevice(place.hub, 'motor-1', (call) => call.respond(200, { status: 0 }));
  await vi.waitFor(() => expect(place.lines.some(({ msg }) => msg === 'the hub lets methods be invoked')).toBe(true));
});
afterEach(() => place.hub.faults.clear());
afterAll(async () => {
  await motor.close();
  await place.close();
});

const refuse = (errorCode: number) => ({ kind: 'method', answer: 'refuse', errorCode }) as const;

describe('the hub', () => {
  it.each<[string, StandingFault, number, Reason, RegExp, string | undefined]>([
    ['throttles', refuse(429001), 429, 'throttled', /too much to do/, '5'],
    ['has too many calls of the device', refuse(403800), 429, 'throttled', /for this device/, '5'],
    ['has used up its quota', refuse(403002), 429, 'throttled', /quota of today/, '3600'],
    ['is unavailable', refuse(503001), 503, 'hub_unavailable', /nothing was invoked/, '5'],
    ['finds the payload too large', refuse(413001), 413, 'too_large', /give less input/, undefined],
    ['finds the invocation invalid', refuse(400004), 500, 'internal_error', /tell its operator/, undefined],
    ['fails', refuse(500001), 504, 'outcome_unknown', /may have run/, undefined],
    ['breaks off', { kind: 'method', answer: 'reset' }, 504, 'outcome_unknown', /broke off/, undefined],
    ['answers garbage', { kind: 'method', answer: 'garbage' }, 502, 'bad_reply', /may have run/, undefined],
    ['knows a code of its own', refuse(404999), 503, 'device_offline', /nothing was invoked/, undefined],
  ])('%s', async (_, fault, status, reason, sentence, retryAfter) => {
    place.hub.faults.add(fault);
    const called = await place.call(conveyor, 'stop');
    await expectFailure(place, called, status, reason, sentence);
    expect(called.headers['retry-after']).toBe(retryAfter);
  });

  it.each([429001, 503001, 500001])('is asked once, even if it answers %i', async (errorCode) => {
    place.hub.faults.add(refuse(errorCode));
    await place.call(conveyor, 'stop');
    expect(place.hub.faults.list()).toMatchObject([{ struck: 1 }]);
  });

  it('refuses our key: the callers are told, the operator is alerted, and it is not ready', async () => {
    place.hub.faults.add(refuse(401002));
    const called = await place.call(conveyor, 'stop');
    await expectFailure(place, called, 503, 'hub_refuses_us', /its operator has been alerted/);
    expect(place.lines.filter(({ level }) => level === 'error')).toMatchObject([
      { msg: 'the hub refuses our access: methods cannot be invoked', status: 401, errorCode: 401002 },
    ]);
    const readyz = `http://127.0.0.1:${place.door.healthPort}/readyz`;
    expect((await fetch(readyz)).status).toBe(503);
    place.hub.faults.clear();
    expect((await place.call(conveyor, 'stop')).status).toBe(200);
    expect((await fetch(readyz)).status).toBe(200);
  });

  it('is down', async () => {
    const lonely = await startPlace();
    try {
      await lonely.hub.close();
      const called = await lonely.call(conveyor, 'stop');
      await expectFailure(lonely, called, 503, 'hub_unavailable', /cannot be reached/);
    } finally {
      await lonely.close();
    }
  });

  it('never answers: the call ends by our own deadline, and the connection is given up', async () => {
    place.hub.faults.add({ kind: 'method', answer: 'silent' });
    const called = await place.call(conveyor, 'stop', { timeout: 5 });
    const line = await expectFailure(place, called, 504, 'no_reply', /did not answer in time/);
    expect(line['hubMs']).toBeGreaterThanOrEqual(9_900);
  });
});

describe('the edge proxy', () => {
  it('may be a module of the device, which then gets the invocation', async () => {
    const edge = await startPlace({ settings: { METHODS_EDGE_MODULE: 'edge' } });
    edge.hub.registry.create('motor-1', { moduleId: 'edge' });
    const module = await moduleClient(edge.hub, 'motor-1', 'edge', mqtt.Mqtt);
    try {
      module.onMethod('invokeMethod', (request, response) => {
        void response?.send(200, { status: request?.payload.method === 'stop' ? 5 : 6 });
      });
      await module.open();
      await module.getTwin();
      expect((await edge.call(conveyor, 'stop')).json).toEqual({ status: 5 });
    } finally {
      await module.close();
      await edge.close();
    }
  });

  it('that is not there is a device that the hub does not know', async () => {
    const edge = await startPlace({ settings: { METHODS_EDGE_MODULE: 'edge' } });
    try {
      await expectFailure(edge, await edge.call(conveyor, 'stop'), 503, 'device_unknown', /does not know the device/);
    } finally {
      await edge.close();
    }
  });
});

describe('a hub that says nothing', () => {
  it('has not agreed, however long it says nothing', async () => {
    place.hub.faults.add({ kind: 'method', answer: 'silent' });
    const early = await startPlace({ hub: place.hub });
    try {
      const isMet = () => expect(early.lines.map(({ msg }) => msg)).toContain('the hub does not take a method');
      await vi.waitFor(isMet, { timeout: 20_000 });
      expect((await fetch(`http://127.0.0.1:${early.door.healthPort}/readyz`)).status).toBe(503);
    } finally {
      await early.close();
    }
  });
});

describe('a key that is wrong from the start', () => {
  it('keeps the front door from being ready, and is in the log as an error', async () => {
    const key = Buffer.from('wrong').toString('base64');
    const settings = {
      HUB_SERVICE_CONNECTION_STRING: place.hub.serviceConnectionString.replace(/Key=[^;=]*=*$/, `Key=${key}`),
    };
    const locked = await startPlace({ settings, hub: place.hub });
    try {
      await vi.waitFor(() => expect(locked.lines.filter(({ level }) => level === 'error')).toHaveLength(1));
      const answer = await fetch(`http://127.0.0.1:${locked.door.healthPort}/readyz`);
      expect([answer.status, await answer.json()]).toEqual([
        503,
        { status: 'not ready', waitingFor: ['the hub’s consent to invoke methods'] },
      ]);
      await expectFailure(locked, await locked.call(conveyor, 'stop'), 503, 'hub_refuses_us', /alerted/);
    } finally {
      await locked.close();
    }
  });
});
