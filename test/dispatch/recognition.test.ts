import { expect, it } from 'vitest';
import { createArrivals } from '../../src/dispatch/recognition.ts';
import { createLog } from '../../src/log/log.ts';
import { createCounters } from '../../src/metrics/counters.ts';
import { hubEvent } from '../support/events.ts';

function arrivals() {
  const lines: string[] = [];
  const counters = createCounters();
  const log = createLog('debug', { write: (line) => void lines.push(line) });
  const arrivalOf = createArrivals({ hub: 'hub', counters, log })('3');
  return { arrivalOf, counters, logged: () => lines.map((line) => JSON.parse(line)) };
}

const ours = { msgType: 'action', action: 'model.create', version: 2 };

it('takes a message of ours, as that of the device which the hub names', () => {
  const { arrivalOf, counters, logged } = arrivals();
  const event = hubEvent({ properties: ours });
  expect(arrivalOf(event, true)).toEqual({
    ...{ event, generation: 'V2', deviceId: 'd1' },
    ...{ origin: { hub: 'hub', partition: '3' }, redelivered: true },
  });
  expect([counters, logged()]).toEqual([createCounters(), []]);
});

it('counts what is not ours, and says nothing of it', () => {
  const { arrivalOf, counters, logged } = arrivals();
  expect(arrivalOf(hubEvent({ properties: { temperature: 21 } }), false)).toBeUndefined();
  expect([counters, logged()]).toEqual([{ ...createCounters(), skipped: 1 }, []]);
});

it('passes over a message that nobody can be held to have sent, with a warning', () => {
  const { arrivalOf, counters, logged } = arrivals();
  expect(
    arrivalOf(hubEvent({ properties: ours, systemProperties: { 'iothub-connection-device-id': '' } }), false),
  ).toBeUndefined();
  expect(counters).toEqual({ ...createCounters(), unattributed: 1 });
  expect(logged()).toMatchObject([{ level: 'warn', partition: '3', sequenceNumber: 7 }]);
});

it.each([[{ ...ours, msgType: 'Action' }], [{ action: 'model.create', MsgType: 'action' }]])(
  'counts a message that is not ours because of the case of a letter, and gives a hint at debug: %j',
  (properties) => {
    const { arrivalOf, counters, logged } = arrivals();
    expect(arrivalOf(hubEvent({ properties }), false)).toBeUndefined();
    expect(counters).toEqual({ ...createCounters(), skipped: 1, misspellings: 1 });
    expect(logged()).toMatchObject([
      {
        ...{ level: 'debug', partition: '3', sequenceNumber: 7, device: 'd1' },
        hint: expect.stringContaining('msgType'),
      },
    ]);
  },
);

it('gives a hint, too, on a message of ours one of whose names begins with a question mark', () => {
  const { arrivalOf, counters, logged } = arrivals();
  expect(arrivalOf(hubEvent({ properties: { ...ours, '?ack': 'all' } }), false)).toMatchObject({ deviceId: 'd1' });
  expect(counters).toEqual({ ...createCounters(), misspellings: 1 });
  expect(logged()).toMatchObject([{ level: 'debug', hint: expect.stringContaining('begins with ?') }]);
});
