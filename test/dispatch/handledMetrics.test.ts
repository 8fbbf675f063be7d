import { expect, it, vi } from 'vitest';
import { catalogue } from '../../src/messages/index.ts';
import { LetterRefused } from '../../src/stores/deadLetterStore.ts';
import { dispatchEvent } from '../support/dispatching.ts';
import { hubEvent } from '../support/events.ts';
import { readingOf, sumsOf } from '../support/observed.ts';
import { scriptedBackend } from '../support/scriptedBackend.ts';
import { forever, receivedMessageOf, wire } from '../support/wiring.ts';
import { device } from '../support/world.ts';
import { success as calls, event, failing, properties } from './support/creation.ts';

/** The second attempt to create the pump succeeds. */
const success = [...calls.slice(0, 2), { call: calls[2].call, reply: [503] } as const, ...calls.slice(2)];

it('a message that succeeds is counted, with its requests, its waits and its replies', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  const enqueuedTimeUtc = new Date(Date.now() - 40_000);
  const { meter } = await dispatchEvent({ ...event, enqueuedTimeUtc }, success, { readAt: performance.now() });
  expect(readingOf(meter, 'device_messaging.handled.messages')).toEqual({ 'ok model.create V2': 1 });
  expect(readingOf(meter, 'messaging.process.duration')).toEqual({ 'model.create V2': 1 });
  expect(readingOf(meter, 'device_messaging.wait.duration')).toEqual({ hub: 1, lane: 1 });
  expect(readingOf(meter, 'device_messaging.replies')).toEqual({ delivered: 1 });
  expect(readingOf(meter, 'device_messaging.replies.duration')).toEqual({ '': 1 });
  expect(readingOf(meter, 'http.client.request.duration')).toEqual({
    'principalManager resolve identity GET 200': 1,
    'informationModel read object model GET 404': 2,
    'informationModel create object model POST 503': 1,
    'informationModel create object model POST 201': 1,
  });
  expect(readingOf(meter, 'device_messaging.backend.retries')).toEqual({ informationModel: 1 });
  expect(readingOf(meter, 'device_messaging.cache.lookups')).toEqual({ 'identities miss': 1 });
  expect(sumsOf(meter, 'device_messaging.wait.duration')['hub']).toBe(40);
});

it('a failure is counted by its code, and its duration by the side at fault', async () => {
  const { meter } = await dispatchEvent(hubEvent({ properties, body: '{' }), []);
  expect(readingOf(meter, 'device_messaging.handled.messages')).toEqual({ 'validation_error model.create V2': 1 });
  expect(readingOf(meter, 'messaging.process.duration')).toEqual({ 'model.create V2 device': 1 });
  expect(readingOf(meter, 'device_messaging.wait.duration')).toEqual({});
});

it('a message that ends in a defect of the service is counted as the service’s failure, and parked', async () => {
  const { handled, meter, parked, logged } = await dispatchEvent(event, success, {
    deliver() {
      throw new TypeError('a defect');
    },
  });
  const line = { level: 'error', msg: 'unforeseen failure', device: 'd1', err: { message: 'a defect' } };
  expect(logged).toMatchObject([line]);
  const [{ incident } = {}] = logged;
  const letter = { code: 'internal_platform_error', details: `internal error, incident ${incident}` };
  expect([handled, parked]).toEqual([true, [expect.objectContaining(letter)]]);
  expect(readingOf(meter, 'device_messaging.handled.messages')).toEqual({ 'internal_platform_error _OTHER V2': 1 });
});

it('a reply that is dropped is counted by its reason', async () => {
  const { meter } = await dispatchEvent(hubEvent({ properties, body: '{' }), [], {
    deliver: () => ({ dropped: 'queue_full' }),
  });
  expect(readingOf(meter, 'device_messaging.replies')).toEqual({ queue_full: 1 });
});

it.each([
  ['is parked', async () => {}, { parked: 1 }],
  ['is not parked', () => Promise.reject(new LetterRefused('too many', 'delete some')), { not_parked: 1 }],
])('a failure of the service that %s is counted as a dead letter', async (_, park, counted) => {
  const { meter } = await dispatchEvent(event, failing, { park });
  expect(readingOf(meter, 'device_messaging.dead_letters')).toEqual(counted);
  expect(readingOf(meter, 'messaging.process.duration')).toEqual({ 'model.create V2 service': 1 });
});

it('an attempt without a response is recorded with its reason', async () => {
  const { meter } = await dispatchEvent(event, [{ call: device.call, reply: 'refused' }, ...success]);
  expect(readingOf(meter, 'http.client.request.duration')).toMatchObject({
    'principalManager resolve identity GET  connection refused': 1,
    'principalManager resolve identity GET 200': 1,
  });
});

it('names that devices make up create no series: the metrics have no value that a device sends', async () => {
  const { dispatch, meter, backends } = wire({ adapter: scriptedBackend([]).adapter, send: async () => 'delivered' });
  const mark = 'zqhostile';
  const named = ['__proto__', 'constructor', 'toString', '_OTHER', `${mark}"} 1\n# ${mark}`, mark.repeat(3_000)];
  const names = [...named, ...Array.from({ length: 500 }, (_, index) => `${mark}-${index}`)];
  for (const name of names) {
    const texts = { correlationId: mark, target: mark, ack: 'all', id: mark };
    const v2 = { ...texts, msgType: 'action', version: 2, action: name };
    const v1 = { ...texts, 'svc-messagetype': 'platformEvent', eventType: name };
    for (const sent of [v2, v1])
      await dispatch(receivedMessageOf(hubEvent({ device: `${mark}-${name}`, properties: sent, body: mark })), forever);
  }
  await backends.close();
  const all = meter.readings().flatMap(({ name, read }) => Array.from(read(), ({ values }) => [name, ...values]));
  expect(JSON.stringify(all)).not.toContain(mark);
  const known = catalogue.map(({ name }) => name);
  const seen = all.flatMap(([metric, , name]) => (metric === 'device_messaging.handled.messages' ? [name] : []));
  expect([...new Set(seen)].filter((name) => name !== '_OTHER' && !known.includes(name ?? ''))).toEqual([]);
  expect(meter.total('device_messaging.handled.messages')).toBe(2 * names.length);
  expect(all.length).toBeLessThan(60);
});
