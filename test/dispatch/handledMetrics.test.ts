import { expect, it } from 'vitest';
import { catalogue } from '../../src/messages/index.ts';
import { startRecording } from '../observing/traces.ts';
import { dispatchEvent } from '../support/dispatching.ts';
import { hubEvent } from '../support/events.ts';
import { readingOf } from '../support/observed.ts';
import { scriptedBackend } from '../support/scriptedBackend.ts';
import { forever, receivedMessageOf, wire } from '../support/wiring.ts';
import { event, success } from './support/creation.ts';

it('a message that ends in a defect of the service is counted as the service’s failure, and parked, and its span ends', async () => {
  const { traces, collector } = await startRecording();
  const { handled, meter, parked, logged } = await dispatchEvent(event, success, {
    traces,
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
  expect(await collector.spansNamed('process model.create')).toMatchObject([
    { isError: true, attributes: { 'error.type': 'unforeseen' } },
  ]);
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
