import { describe, expect, it } from 'vitest';
import { beginning, compound, section } from '../../iot-hub-emulator/test/support/rawAmqp.ts';
import { envelope } from '../../sandbox/stories/wire.ts';
import { deviceForAll, nextAck, sandboxForAll } from './testSandbox.ts';

const objectId = 'b17e5000-0000-4000-8000-000000000001';
const fields = ['n', '10', '2', 'wide', 'tiny', 'huge', 'exact', 'text'];
/** What a program that reads and prints JSON would not print again. Keys in an order that JavaScript would change. */
const properties =
  '{ "wide" : 9007199254740993, "10":1.0,"2" : -9223372036854775808 ,\t"tiny":1E-7, "huge":1e400, "exact":0.10, "text":"\\u00e9\\/" , "n":-0 }';
const stored = `"properties":${properties},`;
const reference = `{"name":"next", "to" : {"objectId":"${objectId}","model":"svc.device"}, "attributes":{"b":1.0,"a":9007199254740993,"1":1e400} }`;
const definition = `{ "typeId":"exact", "version" : "1.0.0", "properties":{${fields.map((name) => `"${name}": {"dataType":"${name === 'text' ? 'string' : 'number'}","default" : null}`)}} ,"references":{"next":{}}, "limit":1e400, "10":1.0,"2":9007199254740993}`;

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

describe('Every byte that a device sends reaches the backend', () => {
  it('in type.create', async () => expect((await send('type.create', {}, definition)).asked).toEqual([definition]));
  it('in model.create, when it creates', async () => {
    const body = `{ "type":"exact","properties":${properties},  "model":"svc.device" ,"objectId":"${objectId}"}`;
    expect((await send('model.create', {}, body)).asked).toEqual([body]);
  });
  it('in model.create, when it updates: only the version is added', async () => {
    const body = `{ "type":"exact","properties":${properties},  "model":"svc.device" ,"objectId":"${objectId}"}`;
    const { asked } = await send('model.create', {}, body);
    expect(asked).toEqual([body.replace('{', '{"version":1,')]);
  });
  it('in model.update, in each repeat up to the stored version: only the version differs', async () => {
    const body = `{ "version" : 3, "type":"exact","properties":${properties} }`;
    const { asked } = await send('model.update', { objectId }, body);
    expect(asked).toEqual([body, body.replace(' 3,', ' 2,'), body]);
  });
  it('in reference.create', async () =>
    expect((await send('reference.create', { objectId }, `[ ${reference} ]`)).asked).toEqual([`[ ${reference} ]`]));
  it('in identity.update', async () => {
    const body = '{ "publicKey" : "\\u0041\\/", "10":1.0, "2":9007199254740993, "limit":1e400 }';
    expect((await send('identity.update', {}, body)).asked).toEqual([body]);
  });
  it('in Svc.Device.Created', async () => {
    const body = `{ "type":"exact","properties":${properties} }`;
    const { asked } = await send('Svc.Device.Created', { objectId }, body);
    expect(asked).toEqual([body.replace('{', '{"version":4,')]);
  });
  it('in Svc.Device.Updated', async () => {
    const body = `{ "type":"exact","variables":{ } ,"properties":${properties} ,"version":5}`;
    expect((await send('Svc.Device.Updated', { objectId }, body)).asked).toEqual([body]);
  });
});

describe('Every byte that the information model answers reaches the device', () => {
  it('in the notification of Svc.Device.Created, except the results of related models', async () => {
    const { notified } = await send('Svc.Device.Created', { objectId }, `{"type":"exact","properties":${properties}}`);
    const answer = sandbox.backends.calls().findLast(({ method }) => method === 'PUT')?.answer ?? '';
    expect(notified).toEqual([answer.replace(/,"relatedModels":\[\]/, '')]);
    expect(notified[0]).toContain(stored);
  });
  it('in the notifications of Svc.Device.SyncModel', async () => {
    const options = { objectId, model: 'svc.device' };
    const { notified } = await send('Svc.Device.SyncModel', options, '{"references":["next"],"recursive":true}');
    const answer = sandbox.backends.calls().findLast(({ path }) => path.endsWith('/svc.device'))?.answer;
    expect(notified).toEqual([answer]);
    expect(notified[0]).toContain(stored);
  });
  it('in the publish-subscribe notification', async () => {
    const settings = `{"model":"svc.configuration","type":"exact.settings","objectId":"${objectId}","properties":${properties}}`;
    await send('type.create', { model: 'svc.configuration' }, definition.replace('"exact"', '"exact.settings"'));
    await send('model.create', {}, settings);
    const body = `{"model":"svc.device","type":"exact","objectId":"${objectId}","properties":${properties}}`;
    const { notified } = await send('model.create', {}, body);
    expect(notified).toHaveLength(1);
    expect(notified[0]).toContain(stored);
  });
});

describe('A correlationId comes back as the text of its AMQP value', () => {
  const encoded = (code: number, hex: string) => Buffer.concat([Buffer.from([code]), Buffer.from(hex, 'hex')]);
  const text = (value: string) =>
    encoded(0xa1, Buffer.from([value.length]).toString('hex') + Buffer.from(value).toString('hex'));

  /** An event as a device of another AMQP library would have it. */
  async function answerTo(correlationId: Buffer) {
    const values = {
      msgType: text('action'),
      action: text('identity.update'),
      version: encoded(0x54, '02'),
      ack: text('all'),
    };
    const pairs = Object.entries({ ...values, correlationId }).flatMap(([name, value]) => [text(name), value]);
    const parts = [
      compound(0xd1, pairs.length, ...pairs),
      encoded(0xa0, Buffer.from('\u0002{}').toString('hex')),
    ] as const;
    sandbox.hub.partitions[0]?.append((place) =>
      Buffer.concat([
        beginning(place, device.id),
        section('applicationProperties', parts[0]),
        section('data', parts[1]),
      ]),
    );
    return nextAck(device);
  }
  it.each([
    ['long', 0x81, '0020000000000001', '9007199254740993'],
    ['negative long', 0x81, '8000000000000000', '-9223372036854775808'],
    ['ulong', 0x80, 'ffffffffffffffff', '18446744073709551615'],
    ['uuid', 0x98, '6F9619FF8B865011B42D00CF4FC964FF', '6f9619ff-8b86-5011-b42d-00cf4fc964ff'],
    ['boolean', 0x56, '01', 'true'],
    ['double', 0x82, 'bff8000000000000', '-1.5'],
    ['timestamp', 0x83, '0000018bcfe56800', '2023-11-14T22:13:20.000Z'],
    ['symbol', 0xa3, '026331', 'c1'],
  ])('%s {S2.5}', async (_, code, hex, expected) => {
    const { ack, body } = await answerTo(encoded(code, hex));
    expect([body.success, ack.properties['correlationId']]).toEqual([true, expected]);
  });
  it('a binary has none, and is refused', async () => {
    const { ack, body } = await answerTo(encoded(0xa0, '0178'));
    expect(ack.properties).not.toHaveProperty('correlationId');
    expect(body).toMatchObject({
      ...{ success: false, code: 'validation_error' },
      details: 'property "correlationId" must have a text; this AMQP binary has none',
    });
  });
});
