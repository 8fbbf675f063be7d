import { describe, expect, test } from 'vitest';
import { append, eventReceiver, outcomeOf, serviceLink, toDevice } from '../support/bare.ts';
import { connectedDevice } from '../support/device.ts';
import { hubForFaults, hubForTest } from '../support/sharedHub.ts';

const hub = hubForFaults({ devices: [{ deviceId: 'pump-1' }], partitions: 1 });

const ask = async (method: string, path: string, body?: unknown) => {
  const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
  const response = await fetch(hub.adminUrl + path, init);
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
};

describe('faults over the admin port', () => {
  test('are added, listed and cleared', async () => {
    const fault = { kind: 'settle', answer: 'reject', times: 3 };
    const { status, body } = await ask('POST', '/faults', fault);
    expect(status).toBe(201);
    expect((await ask('GET', '/faults')).body).toEqual({ faults: [{ id: body.id, fault, struck: 0 }] });
    expect(await ask('DELETE', `/faults/${body.id}`)).toEqual({ status: 204, body: undefined });
    expect((await ask('DELETE', `/faults/${body.id}`)).status).toBe(404);
    await ask('POST', '/faults', fault);
    expect(await ask('DELETE', '/faults')).toEqual({ status: 200, body: { ended: 1 } });
    expect((await ask('GET', '/faults')).body).toEqual({ faults: [] });
  });
  test('happen at once and count what they affected', async () => {
    const device = await connectedDevice(hub, 'pump-1');
    const answer = await ask('POST', '/faults', { kind: 'drop', connections: 'device' });
    expect(answer).toEqual({ status: 200, body: { struck: 1 } });
    await device.closed;
  });
  test.each([
    [{ kind: 'nonsense' }, 'kind'],
    [{ kind: 'settle' }, 'answer'],
    [{ kind: 'settle', answer: 'hold', time: 1 }, 'this kind has no field time'],
    [{ kind: 'burst', events: 0 }, 'events'],
    [7, 'object'],
  ])('that are invalid are refused with a sentence: %j', async (fault, word) => {
    const { status, body } = await ask('POST', '/faults', fault);
    expect(status).toBe(400);
    expect(body.error).toContain('That is no fault');
    expect(body.error).toContain(word);
  });
});

test('a burst in a hub without devices is refused with a status and a sentence', async () => {
  const empty = await hubForTest();
  const response = await fetch(`${empty.adminUrl}/faults`, { method: 'POST', body: '{"kind":"burst","events":1}' });
  expect(response.status).toBe(404);
  expect(await response.json()).toEqual({ error: 'There is no device that could send the events.' });
});

test('the counters show connections, links, credit, events and queues', async () => {
  const { bodies } = await eventReceiver(hub, { credit: 10 });
  append(hub, ['a', 'b']);
  await expect.poll(() => bodies).toEqual(['a', 'b']);
  await outcomeOf(await serviceLink(hub), toDevice('pump-1'));
  const device = await connectedDevice(hub, 'pump-1');
  const { body } = await ask('GET', '/counters');
  expect(body).toMatchObject({
    connections: { all: 3, events: 1, service: 1, device: 1, unknown: 0 },
    links: 2,
    receivers: [{ address: 'sandbox-hub/ConsumerGroups/$Default/Partitions/0', credit: 8, delivered: 2 }],
    appended: 2,
    delivered: 2,
    settled: 2,
    queued: { all: 1, byDevice: { 'pump-1': 1 } },
  });
  expect(body).toEqual(JSON.parse(JSON.stringify(hub.counters())));
  device.socket.destroy();
});
