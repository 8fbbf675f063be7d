import { expect, it } from 'vitest';
import { BODY_LIMIT } from '../../../sandbox/backends/http/text.ts';
import { useTestBackends } from './client.ts';

const test = useTestBackends({ keepsWorld: true });

const post = (body: unknown) => test.as('pump-1').im('POST', '/object', body);
const sensor = '{"model":"svc.device","type":"sensor","properties":{"quantity":"flow"}}';

it.each([
  ['nothing', ''],
  ['half an object', '{"model":'],
  ['JSON with a comment', '{} // x'],
  ['two values', '{}{}'],
  ['a byte order mark', Buffer.from(`\ufeff${sensor}`)],
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ['UTF-16', Buffer.from(sensor, 'utf16le')],
  ['a list', '[]'],
  ['null', 'null'],
  ['a member twice', '{"model":"svc.device","type":"sensor","properties":{"quantity":"a"},"type":"pump"}'],
  ['a property twice', '{"model":"svc.device","type":"sensor","properties":{"quantity":"a","quantity":"b"}}'],
  ['control characters in a model', '{"model":"svc\\u0000device","type":"sensor"}'],
])('%s as a body is refused with 400', async (_, body) => {
  const { status, error } = await post(body);
  expect([status, error?.code, error?.title]).toEqual([400, '400', 'Validation failed']);
});

it('__proto__ and constructor are ordinary names', async () => {
  const body = '{"model":"svc.device","type":"sensor","properties":{"quantity":"a","__proto__":"x"}}';
  expect((await post(body)).error?.detail).toContain('$.properties.__proto__');
  expect((await post('{"model":"svc.device","type":"constructor","__proto__":{"type":"sensor"}}')).status).toBe(400);
});

it('any depth of nesting is tolerated', async () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  expect((await post(`{"model":"svc.device","type":"sensor","properties":{"quantity":${deep}}}`)).status).toBe(400);
  expect((await post(sensor.replace('}}', `},"ignored":${deep}}`))).status).toBe(201);
});

it('white space around and inside is accepted', async () =>
  expect((await post(`\n ${sensor.replaceAll(':', ' : ')} \r\n`)).status).toBe(201));
it('a body over the limit is refused with 413, and the next call is served', async () => {
  expect((await post(Buffer.alloc(BODY_LIMIT + 1, 0x20))).status).toBe(413);
  expect((await post(sensor)).status).toBe(201);
});
