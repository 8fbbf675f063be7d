import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { envelope } from '../../sandbox/stories/wire.ts';
import { deviceForAll, nextAck, sandboxForAll } from './testSandbox.ts';

const sandbox = sandboxForAll();
const device = deviceForAll(sandbox);

const good = { model: 'svc.device', type: 'pump', properties: { serial: 'GOOD-1' } };
const json = (value: unknown) => Buffer.from(JSON.stringify(value));

// Whatever a test has sent: the device's next message is handled as if nothing had happened, and no stray reply is in between.
afterEach(async () => {
  await device.send(envelope('model.create', 'afterwards'), json(good));
  const { ack, body } = await nextAck(device);
  expect(ack.properties['correlationId']).toBe('afterwards');
  expect(body).toMatchObject({ success: true, code: 'ok' });
});

interface Case {
  it: string;
  properties?: Record<string, string>;
  body?: Buffer;
  code: string;
  details: RegExp;
}

// What is wrong with messages has its rows in their tables; here it comes through a real hub.
it.each<Case>([
  { it: 'no body', body: Buffer.alloc(0), code: 'validation_error', details: /body/i },
  { it: 'invalid UTF-8', body: Buffer.from('{"name":"\xff"}', 'latin1'), code: 'validation_error', details: /UTF-8/ },
  { it: 'very deep JSON', body: Buffer.from('['.repeat(100_000)), code: 'validation_error', details: /128 levels/ },
  {
    it: 'a compression bomb',
    properties: { 'content-encoding': 'gzip' },
    body: gzipSync(Buffer.alloc(16 << 20, ' ')),
    code: 'decompression_error',
    details: /524288|512 KiB|large|limit/i,
  },
  { it: 'a control character', properties: { target: 'edge\u0000rival' }, code: 'validation_error', details: /target/ },
])('A message that breaks a rule is refused with a reason $it', refuses);

it.each(['../B', '..%2fB', 'a/b', '%2e%2e', '', 'x\r\nHost: y', '00000000-0000-4000-8000-000000000000/owner'])(
  'A hostile object id is refused, and is never part of an address %j',
  async (objectId) => {
    const mark = sandbox.backends.journal.last;
    const [code, details] = ['http_response_error', /objectId must be a GUID/] as const;
    await refuses({ it: '', body: json({ ...good, objectId }), code, details });
    const touched = sandbox.backends.calls({ since: mark }).filter(({ path }) => path.startsWith('/objects/'));
    expect(touched).toEqual([]);
  },
);

describe('Unusual but allowed input is passed on unchanged', () => {
  it('line breaks in a correlation id', async () => {
    await device.send(envelope('model.create', 'a\r\nx-svc-device-id: rival-1'), json(good));
    const { ack, body } = await nextAck(device);
    expect(ack.properties['correlationId']).toBe('a\r\nx-svc-device-id: rival-1');
    expect(ack.correlationId).toBeUndefined();
    expect(body).toMatchObject({ success: true, code: 'ok' });
  });
  it('a property named __proto__', async () => {
    await device.send({ ...envelope('model.create', 'proto'), ['__proto__']: 'x', constructor: 'y' }, json(good));
    expect((await nextAck(device)).body).toMatchObject({ success: true, code: 'ok' });
  });
});

it.each(['none', 'positive', ''])(
  'A device that requested no acknowledgement gets none for a failure with ack %j',
  (ack) => device.send({ ...envelope('model.create', 'silent'), ack }, Buffer.from('not json')),
);

async function refuses({ properties, body = json(good), code, details }: Case): Promise<void> {
  const sent = { ...envelope('model.create', 'bad'), ...properties };
  await device.send(sent, body);
  const { ack, body: answer, notifications } = await nextAck(device);
  expect(answer).toMatchObject({ success: false, code, details: expect.stringMatching(details) });
  expect(answer.details).not.toMatch(/\bat .*\.(js|ts):\d|https?:/);
  expect(ack.properties['correlationId']).toBe(sent['correlationId']);
  expect(notifications).toHaveLength(0);
}
