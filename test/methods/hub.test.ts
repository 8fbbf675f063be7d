import mqtt from 'azure-iot-device-mqtt';
import type { StandingFault } from 'iot-hub-emulator';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { moduleClient } from '../../iot-hub-emulator/test/support/clients.ts';
import { startForAll, startForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import type { Reason } from '../../src/protocol/vocabulary.ts';
import { soon } from '../support/waiting.ts';
import { expectFailure } from './support/expectFailure.ts';
import { methodDevice, succeed } from './support/methodDevice.ts';
import { conveyor, startTestFrontDoor } from './support/testFrontDoor.ts';

// The hub throttles, refuses, closes connections or does not respond (M6, M8).

const setup = startForAll(startTestFrontDoor);
void startForAll(() => methodDevice(setup.hub, 'motor-1', succeed));
beforeAll(() =>
  vi.waitFor(() => expect(setup.lines.map(({ msg }) => msg)).toContain('the hub grants access to methods'), soon),
);
afterEach(() => setup.hub.faults.clear());

const refuse = (errorCode: number) => ({ kind: 'method', answer: 'refuse', errorCode }) as const;

describe('the hub', () => {
  it.each<[string, StandingFault, number, Reason, RegExp, string | undefined]>([
    ['throttles {S23.9}', refuse(429001), 429, 'throttled', /throttles/, '5'],
    ['has too many calls of the device', refuse(403800), 429, 'throttled', /for this device/, '5'],
    ['has used up its quota', refuse(403002), 429, 'throttled', /daily quota/, '3600'],
    ['closes the connection', { kind: 'method', answer: 'reset' }, 504, 'outcome_unknown', /hub ended/, undefined],
    ['is unavailable', refuse(503001), 503, 'hub_unavailable', /nothing was invoked/, '5'],
    ['finds the payload too large', refuse(413001), 413, 'too_large', /reduce the input/, undefined],
    ['finds the invocation invalid', refuse(400004), 500, 'internal_error', /tell its operator/, undefined],
    ['fails', refuse(500001), 504, 'outcome_unknown', /may have run/, undefined],
    ['sends garbage', { kind: 'method', answer: 'garbage' }, 502, 'bad_reply', /may have run/, undefined],
  ])('%s, and gets the call once', async (_, fault, status, reason, sentence, retryAfter) => {
    setup.hub.faults.add(fault);
    const called = await setup.call(conveyor, 'stop');
    const invoked = reason === 'internal_error' ? 'no' : undefined;
    await expectFailure(setup, called, status, reason, sentence, invoked);
    expect(called.headers['retry-after']).toBe(retryAfter);
    expect(setup.hub.faults.list()).toMatchObject([{ struck: 1 }]);
  });

  it('refuses the key: callers get 503, the log has an error, and the front door is not ready', async () => {
    setup.hub.faults.add(refuse(401002));
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const called = await setup.call(conveyor, 'stop');
    await expectFailure(setup, called, 503, 'hub_refuses_us', /its operator has been alerted/);
    expect(setup.lines.filter(({ level }) => level === 'error')).toMatchObject([
      { msg: 'the hub refuses access: methods cannot be invoked', status: 401, errorCode: 401002 },
    ]);
    vi.advanceTimersByTime(60_000);
    const everyMinute = { level: 'error', status: 401, times: expect.any(Number), inProgress: 0 };
    expect(setup.lines.filter(({ level }) => level === 'error').at(-1)).toMatchObject(everyMinute);
    vi.useRealTimers();
    const readyz = `http://127.0.0.1:${setup.instance.healthPort}/readyz`;
    expect((await fetch(readyz)).status).toBe(503);
    setup.hub.faults.clear();
    expect((await setup.call(conveyor, 'stop')).status).toBe(200);
    expect((await fetch(readyz)).status).toBe(200);
  });

  it('is unavailable', async () => {
    const lonely = await startForTest(startTestFrontDoor());
    await lonely.hub.close();
    const called = await lonely.call(conveyor, 'stop');
    await expectFailure(lonely, called, 503, 'hub_unavailable', /the hub is unavailable/);
  });

  it('never responds: the call ends by the time-out of the front door', async () => {
    setup.hub.faults.add({ kind: 'method', answer: 'silent' });
    const called = await setup.call(conveyor, 'stop', { timeout: 5 });
    const line = await expectFailure(setup, called, 504, 'no_reply', /did not respond in time/);
    expect(line['hubMs']).toBeGreaterThanOrEqual(9_900);
  });
});

describe('the edge proxy', () => {
  it('may be a module of the device, which gets the invocation', async () => {
    const edge = await startForTest(startTestFrontDoor({ settings: { METHODS_EDGE_MODULE: 'edge' } }));
    edge.hub.registry.create('motor-1', { moduleId: 'edge' });
    const module = await startForTest(moduleClient(edge.hub, 'motor-1', 'edge', mqtt.Mqtt));
    module.onMethod('invokeMethod', (request, response) => {
      void response?.send(200, { status: request?.payload.method === 'stop' ? 5 : 6 });
    });
    await module.open();
    await module.getTwin();
    expect((await edge.call(conveyor, 'stop')).json).toEqual({ status: 5 });
  });

  it('that does not exist is reported as an unknown device', async () => {
    const edge = await startForTest(startTestFrontDoor({ settings: { METHODS_EDGE_MODULE: 'edge' } }));
    await expectFailure(edge, await edge.call(conveyor, 'stop'), 503, 'device_unknown', /not registered at the hub/);
  });
});

it('a hub that does not respond does not make the front door ready', async () => {
  setup.hub.faults.add({ kind: 'method', answer: 'silent' });
  const early = await startForTest(startTestFrontDoor({ hub: setup.hub }));
  const areAvailable = () => expect(early.lines.map(({ msg }) => msg)).toContain('the hub does not accept methods');
  await vi.waitFor(areAvailable, soon);
  expect((await fetch(`http://127.0.0.1:${early.instance.healthPort}/readyz`)).status).toBe(503);
});

it('a wrong key at the start keeps the front door not ready and is logged as an error', async () => {
  const key = Buffer.from('wrong').toString('base64');
  const settings = {
    HUB_SERVICE_CONNECTION_STRING: setup.hub.serviceConnectionString.replace(/Key=[^;=]*=*$/, `Key=${key}`),
  };
  const locked = await startForTest(startTestFrontDoor({ settings, hub: setup.hub }));
  await vi.waitFor(() => expect(locked.lines.filter(({ level }) => level === 'error')).toHaveLength(1), soon);
  const answer = await fetch(`http://127.0.0.1:${locked.instance.healthPort}/readyz`);
  const expected = [503, { status: 'not ready', waitingFor: ['access to methods of the hub'] }];
  expect([answer.status, await answer.json()]).toEqual(expected);
  await expectFailure(locked, await locked.call(conveyor, 'stop'), 503, 'hub_refuses_us', /alerted/);
});
