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

// Its other answers are rows of hubError.test.ts and hubAccess.test.ts.
describe('the hub', () => {
  it.each<[string, StandingFault, number, Reason, RegExp, string | undefined]>([
    ['throttles {S23.9}', refuse(429001), 429, 'throttled', /throttles/, '5'],
    ['closes the connection', { kind: 'method', answer: 'reset' }, 504, 'outcome_unknown', /hub ended/, undefined],
    ['sends garbage', { kind: 'method', answer: 'garbage' }, 502, 'bad_reply', /may have run/, undefined],
  ])('%s, and gets the call once', async (_, fault, status, reason, sentence, retryAfter) => {
    setup.hub.faults.add(fault);
    const called = await setup.call(conveyor, 'stop');
    await expectFailure(setup, called, status, reason, sentence);
    expect(called.headers['retry-after']).toBe(retryAfter);
    expect(setup.hub.faults.list()).toMatchObject([{ struck: 1 }]);
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
});

it('a wrong key at the start keeps the front door not ready and is logged as an error', async () => {
  const key = Buffer.from('wrong').toString('base64');
  const settings = {
    HUB_SERVICE_CONNECTION_STRING: setup.hub.serviceConnectionString.replace(/Key=[^;=]*=*$/, `Key=${key}`),
  };
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const locked = await startForTest(startTestFrontDoor({ settings, hub: setup.hub }));
  const errors = () => locked.lines.filter(({ level }) => level === 'error');
  await vi.waitFor(() => expect(errors()).toHaveLength(1), soon);
  vi.advanceTimersByTime(60_000);
  vi.useRealTimers();
  expect(errors().at(-1)).toMatchObject({ status: 401, times: expect.any(Number), inProgress: 0 });
  const answer = await fetch(`http://127.0.0.1:${locked.instance.healthPort}/readyz`);
  const expected = [503, { status: 'not ready', waitingFor: ['access to methods of the hub'] }];
  expect([answer.status, await answer.json()]).toEqual(expected);
  await expectFailure(locked, await locked.call(conveyor, 'stop'), 503, 'hub_refuses_us', /alerted/);
});
