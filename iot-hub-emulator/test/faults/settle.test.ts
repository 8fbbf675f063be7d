import { once } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { disconnected, ended, nextOutcome, outcomeOf, serviceLink, toDevice } from '../support/bare.ts';
import { connectedDevice, publishPacket } from '../support/device.ts';
import { deviceForEach, hubForFaults } from '../support/sharedHub.ts';

let deviceId = '';
const hub = hubForFaults();
deviceForEach(hub, (id) => (deviceId = id));

const pending = () => hub.devicebound.pending(deviceId).length;
const sendOne = async () => {
  const sender = await serviceLink(hub);
  const outcome = nextOutcome(sender);
  sender.send(toDevice(deviceId));
  return { sender, outcome };
};

describe('a message of a service', () => {
  const condition = 'amqp:resource-limit-exceeded';
  test.each<[string, Parameters<typeof hub.faults.add>[0], string, number]>([
    ['released', { kind: 'settle', answer: 'release', times: 1 }, 'released', 0],
    ['modified', { kind: 'settle', answer: 'modify', times: 1 }, 'modified', 0],
    ['rejected', { kind: 'settle', answer: 'reject', times: 1 }, 'amqp:internal-error', 0],
    ['rejected with a condition', { kind: 'settle', answer: 'reject', condition, times: 1 }, condition, 0],
    ['released, and taken in', { kind: 'settle', answer: 'release', effect: true, times: 1 }, 'released', 1],
    ['settled after the delay', { kind: 'settle', answer: 'delay', ms: 20, times: 1 }, 'accepted', 1],
  ])('is %s when the fault says so, and the next one is accepted', async (_, fault, outcome, taken) => {
    hub.faults.add(fault);
    expect(await (await sendOne()).outcome).toBe(outcome);
    expect(pending()).toBe(taken);
    expect(await (await sendOne()).outcome).toBe('accepted');
  });
  test('is held until the fault is cleared, and then settled as without it', async () => {
    const id = hub.faults.add({ kind: 'settle', answer: 'hold', times: 1 });
    const { outcome } = await sendOne();
    expect(await (await sendOne()).outcome).toBe('accepted');
    expect(await Promise.race([outcome, 'held'])).toBe('held');
    hub.faults.clear(id);
    expect(await outcome).toBe('accepted');
    expect(pending()).toBe(2);
  });
  test('that is held for an unknown device is rejected when the fault is cleared', async () => {
    const id = hub.faults.add({ kind: 'settle', answer: 'hold' });
    const outcome = outcomeOf(await serviceLink(hub), toDevice('nobody'));
    await expect.poll(() => hub.faults.list()[0]?.struck).toBe(1);
    hub.faults.clear(id);
    expect(await outcome).toBe('amqp:not-found');
  });
  test('is in the journal when a fault changed its answer', async () => {
    hub.faults.add({ kind: 'settle', answer: 'reject', times: 1 });
    const message = { ...toDevice(deviceId), message_id: 'reply-1', correlation_id: 'request-1' };
    await outcomeOf(await serviceLink(hub), message);
    expect(hub.journal.list({ kind: 'c2d-fault', deviceId })).toEqual([
      expect.objectContaining({ messageId: 'reply-1', correlationId: 'request-1', answer: 'reject' }),
    ]);
  });
  test('is never settled, but the next one is', async () => {
    hub.faults.add({ kind: 'settle', answer: 'never', times: 1 });
    const { sender, outcome } = await sendOne();
    await expect.poll(pending).toBe(1);
    sender.send(toDevice(deviceId, 'second'));
    expect(await outcome).toBe('accepted');
    expect(pending()).toBe(2);
  });
  test('has its link detached, with a condition or without', async () => {
    hub.faults.add({ kind: 'settle', answer: 'detach', condition: 'amqp:link:detach-forced', times: 1 });
    expect(await ended((await sendOne()).sender)).toBe('amqp:link:detach-forced');
    hub.faults.add({ kind: 'settle', answer: 'detach', times: 1 });
    expect(await ended((await sendOne()).sender)).toBeUndefined();
  });
  test('is stored although its connection is closed with the reason', async () => {
    hub.faults.add({ kind: 'settle', answer: 'close', condition: 'amqp:connection:forced' });
    const { connection } = (await sendOne()).sender;
    await once(connection, 'connection_close');
    expect(connection.error).toMatchObject({ condition: 'amqp:connection:forced' });
    expect(pending()).toBe(1);
  });
  test.each(['fin', 'rst'] as const)('is stored although its connection ends by %s', async (answer) => {
    hub.faults.add({ kind: 'settle', answer });
    await disconnected((await sendOne()).sender.connection);
    expect(pending()).toBe(1);
  });
  test('is not affected by a fault for another device, another kind of link, or later messages', async () => {
    hub.faults.add({ kind: 'settle', answer: 'reject', deviceId: 'other' });
    hub.faults.add({ kind: 'settle', answer: 'reject', link: 'd2c' });
    hub.faults.add({ kind: 'settle', answer: 'reject', link: 'c2d', deviceId, skip: 1 });
    expect(await (await sendOne()).outcome).toBe('accepted');
    expect(await (await sendOne()).outcome).toBe('amqp:internal-error');
  });
});

describe('a message of a device over MQTT', () => {
  const publish = async () => {
    const device = await connectedDevice(hub, deviceId);
    device.send(publishPacket(`devices/${deviceId}/messages/events/`, 'x'));
    return device;
  };
  const appended = () => hub.journal.list({ deviceId, kind: 'd2c' }).length;

  test('is acknowledged when the fault that holds it is cleared', async () => {
    hub.faults.add({ kind: 'settle', answer: 'hold', link: 'd2c' });
    const device = await publish();
    await expect.poll(appended).toBe(1);
    const acknowledged = vi.fn();
    const packet = device.next('puback').then(acknowledged);
    device.send({ cmd: 'pingreq' });
    await device.next('pingresp');
    expect(acknowledged).not.toHaveBeenCalled();
    hub.faults.clear();
    await packet;
    device.socket.destroy();
  });
  test.each([
    ['stored although the connection was reset before the acknowledgement', 'rst', 1],
    ['not stored when it is rejected, and its connection ends', 'reject', 0],
  ] as const)('is %s', async (_, answer, stored) => {
    hub.faults.add({ kind: 'settle', answer, link: 'd2c' });
    await (await publish()).closed;
    expect(appended()).toBe(stored);
  });
});
