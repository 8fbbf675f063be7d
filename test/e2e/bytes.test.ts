import { expect, it } from 'vitest';
import { envelope } from '../../sandbox/stories/wire.ts';
import { deviceForAll, nextAck, sandboxForAll } from './testSandbox.ts';

// From a device to a backend, and from the information model to a device, over the real clients. The tables of test/messages have it for each message.

const objectId = 'b17e5000-0000-4000-8000-000000000001';
const fields = ['n', '10', '2', 'wide', 'tiny', 'huge', 'exact', 'text'];
/** What a program that reads and prints JSON would not print again. Keys in an order that JavaScript would change. */
const properties =
  '{ "wide" : 9007199254740993, "10":1.0,"2" : -9223372036854775808 ,\t"tiny":1E-7, "huge":1e400, "exact":0.10, "text":"\\u00e9\\/" , "n":-0 }';
const definition = `{ "typeId":"exact", "version" : "1.0.0", "properties":{${fields.map((name) => `"${name}": {"dataType":"${name === 'text' ? 'string' : 'number'}","default" : null}`)}} , "limit":1e400, "10":1.0,"2":9007199254740993}`;

const sandbox = sandboxForAll();
const device = deviceForAll(sandbox);

/** Sends a body as it is; answers the bodies of what backends were asked to change, and of the notifications, as text. */
async function send(name: string, more: Record<string, string>, body: string) {
  const mark = sandbox.backends.journal.last;
  await device.send({ ...envelope(name, 'bytes'), ...more }, Buffer.from(body));
  const { notifications, body: result } = await nextAck(device);
  expect(result).toMatchObject({ success: true });
  const calls = sandbox.backends.calls({ since: mark, deviceId: device.id });
  const mutations = calls.filter(({ method, path }) => method !== 'GET' && path !== '/query');
  const notified = notifications.map((reply) => reply.body.toString('utf8'));
  return { asked: mutations.map((call) => call.body), notified };
}

it('every byte that a device sends reaches the backend, and every byte that the information model answers the device', async () => {
  expect((await send('type.create', {}, definition)).asked).toEqual([definition]);
  const body = `{ "type":"exact","properties":${properties},  "model":"svc.device" ,"objectId":"${objectId}"}`;
  expect((await send('model.create', {}, body)).asked).toEqual([body]);
  const { notified } = await send('Svc.Device.SyncModel', { objectId, model: 'svc.device' }, '{}');
  const answer = sandbox.backends.calls().findLast(({ path }) => path.endsWith('/svc.device'))?.answer;
  expect(notified).toEqual([answer]);
  expect(notified[0]).toContain(`"properties":${properties},`);
});
