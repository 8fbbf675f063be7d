import { type AdminClient, createAdminClient, operations } from 'iot-hub-emulator/admin';
import { beforeAll, expect, test } from 'vitest';
import { connectedDevice, publishPacket } from './support/device.ts';
import { hubForAll } from './support/sharedHub.ts';

const hub = hubForAll({ devices: [{ deviceId: 'pump-1' }] });
let admin: AdminClient;
beforeAll(() => {
  admin = createAdminClient(`${hub.adminUrl}/`);
});

test('the admin client has a function for each operation', () =>
  expect(Object.keys(admin).toSorted()).toEqual(Object.keys(operations).toSorted()));

test('the admin client sends ids, bodies and queries, and gives what the hub answers', async () => {
  expect(await admin.describe()).toMatchObject({ name: 'sandbox-hub', ports: hub.ports });
  const { connectionString } = await admin.addDevice({ deviceId: 'made%1' });
  expect(connectionString).toBe(hub.deviceConnectionString('made%1'));
  expect(await admin.removeDevice('made%1')).toBeUndefined();
  expect((await admin.listDevices()).devices.map(({ deviceId }) => deviceId)).toEqual(['pump-1']);
  const fault = { kind: 'settle', answer: 'reject', times: 3 } as const;
  const added = await admin.addFault(fault);
  if (!('id' in added)) throw new Error('it stands');
  expect(await admin.listFaults()).toEqual({ faults: [{ id: added.id, fault, struck: 0 }] });
  await admin.clearFault(added.id);
  expect(await admin.addFault({ kind: 'drop' })).toEqual({ struck: 0 });
  expect(await admin.renewKey('device', {})).toMatchObject({ policy: 'device', key: 'primaryKey' });
});

test('the admin client gives the sentence of a refusal, and its status', async () => {
  await expect(admin.addDevice({ deviceId: 'pump-1' })).rejects.toMatchObject({
    ...{ name: 'HubRefused', status: 409, message: 'A device of this id exists already.' },
  });
  await expect(admin.clearFault('none')).rejects.toMatchObject({ status: 404 });
});

test('the admin client reads the journal, and follows it until the loop is left', async () => {
  const device = await connectedDevice(hub, 'pump-1');
  const kinds: string[] = [];
  for await (const entry of admin.streamJournal({ since: 0, deviceId: 'pump-1' })) {
    kinds.push(entry.kind);
    if (entry.kind === 'connected') device.send(publishPacket('devices/pump-1/messages/events/', 'wärm'));
    if (entry.kind !== 'd2c') continue;
    expect(entry).toMatchObject({ text: 'wärm', body: Buffer.from('wärm').toString('base64') });
    break;
  }
  expect(kinds).toEqual(['connected', 'd2c']);
  const { entries, last } = await admin.readJournal({ kind: 'd2c' });
  expect(entries).toMatchObject([{ position: last, kind: 'd2c', partition: expect.any(Number) }]);
  device.socket.destroy();
});

test('the admin client ends what it follows with a signal, and tells what has gone', async () => {
  const leaving = new AbortController();
  const stream = admin.streamJournal({ since: 9_999 }, leaving.signal);
  expect((await stream.next()).value).toEqual({ kind: 'gap', after: 9_999, next: 1 });
  const after = (async () => {
    for await (const _ of stream);
  })();
  leaving.abort(new Error('enough'));
  await expect(after).rejects.toThrow('enough');
});
