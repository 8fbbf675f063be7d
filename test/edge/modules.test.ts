import { beforeAll, describe, expect, it } from 'vitest';
import { startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { breachesOfModule } from '../support/modulesContract.ts';
import { busObject, startTestEdge, users } from './support/testEdge.ts';

// Requests to modules and their replies (M10, M11).

const nobody = 'ffffffff-7f2b-4f0e-8d57-3b8f2f6c9e11';

// Without access rules at the broker the proxy must separate the modules.
const topics = ['press/#', 'bus/#'];
const unrestricted = { password: 'press-secret', publish: [...topics, 'other/#'], subscribe: topics };
const edge = startForAll(() => startTestEdge({ users: { ...users, press: unrestricted } }));
beforeAll(() => edge.ready());
const press = startForAll(() => edge.module('press'));
const bus = startForAll(() => edge.module('bus'));

const dropped = (module: string) =>
  edge.lines.filter((line) => line['module'] === module && String(line['msg']).startsWith('replies dropped')).length;

describe('a module', () => {
  it('gets an invocation under its method, with the inputs, and its reply is the response {S24.1}', async () => {
    const calling = edge.call({ method: 'configure', input: { rpm: 1450, label: 'é\u{1F600}' } });
    const request = await press.next();
    expect(request.topic).toMatch(
      /^press\/in\/configure\/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect([JSON.parse(request.text), request.isRetained]).toEqual([{ rpm: 1450, label: 'é\u{1F600}' }, false]);
    request.reply(7, { done: true });
    expect(await calling).toEqual({ status: 200, payload: { status: 7, output: { done: true } }, reason: undefined });
  });

  it.each<[string, Record<string, unknown> | undefined, string]>([
    ['an empty payload when the method declares no inputs', undefined, ''],
    ['an empty object when no input is given', {}, '{}'],
    ['an input named __proto__ unchanged', JSON.parse('{"__proto__":{"a":1}}'), '{"__proto__":{"a":1}}'],
  ])('gets %s, and may reply with an empty payload {S24.1}', async (_, input, text) => {
    const calling = edge.call({ method: 'configure', ...(input && { input }) });
    const request = await press.next();
    expect(request.text).toBe(text);
    request.reply(-3);
    expect((await calling).payload).toEqual({ status: -3 });
  });

  it('gets each invocation under a new request id {S24.2}', async () => {
    const calls = [edge.call(), edge.call()];
    const [first, second] = [await press.next(), await press.next()];
    expect(first.requestId).not.toBe(second.requestId);
    second.reply(2);
    first.reply(1);
    expect((await Promise.all(calls)).map(({ payload }) => payload.status)).toEqual([1, 2]);
  });

  it.each(['Größe-ändern', '停止', 'a b', 'stop.now', '\u{1F6D1}'])('can have the method %s', async (method) => {
    const calling = edge.call({ method });
    const request = await press.next();
    expect(request.method).toBe(method);
    request.reply(0);
    expect((await calling).status).toBe(200);
  });
});

describe('a gateway', () => {
  it.each<[string, string, string]>([
    ['by the id of the object {S24.4}', busObject, 'anywhere'],
    ['by the target', nobody, 'line'],
    ['by a path below its target', nobody, 'line/2/drive'],
  ])('gets invocations for other objects, %s', async (_, objectId, target) => {
    const calling = edge.call({ objectId, target, method: 'a/b#+', input: { angle: 1.5 } });
    const request = await bus.next();
    expect(request.topic).toMatch(/^bus\/in\/\$proxy\/[0-9a-f-]{36}$/);
    expect(JSON.parse(request.text)).toEqual({ objectId, method: 'a/b#+', input: { angle: 1.5 } });
    request.reply(1, { angle: 1 });
    expect((await calling).payload).toEqual({ status: 1, output: { angle: 1 } });
  });
});

describe('a reply', () => {
  const replied = async (status: string, payload: string | Buffer) => {
    const calling = edge.call();
    const request = await press.next();
    request.reply(status, payload);
    const answered = await calling;
    if (answered.status === 200)
      expect(breachesOfModule('out', `${status}/${request.requestId}`, payload.toString())).toEqual([]);
    return answered;
  };

  it.each<[string, string, string | Buffer, RegExp]>([
    ['with the status OK {S24.2}', 'OK', '', /status is not an integer within/],
    ['with plain text', '7', 'done', /neither empty nor a JSON object/],
    ['of a megabyte', '7', JSON.stringify({ a: 'x'.repeat(1_048_576) }), /more than 131072 bytes/],
  ])('%s is a bad reply', async (_, status, payload, sentence) => {
    const answered = await replied(status, payload);
    expect(answered).toMatchObject({ status: 502, reason: 'failed_at_device' });
    expect(answered.payload.detail).toMatch(sentence);
    // The method has run; a status that can be told is told (M7).
    expect(answered.payload.invoked).toBe('yes');
    expect(answered.payload.status).toBe(status === '7' ? 7 : undefined);
  });

  it('to an unknown request, on the topic of another module, or on an invalid topic is dropped', async () => {
    const calling = edge.call({ timeout: 5 });
    const { requestId } = await press.next();
    press.publish('press/out/0/5f2b8f0e-0000-4000-8000-000000000000', '');
    press.publish(`bus/out/0/${requestId}`, '');
    press.publish(`press/out/${requestId}`, '');
    press.publish(`press/out/0/1/${requestId}`, '');
    press.publish(`other/0/${requestId}`, '');
    press.publish(`press/out/0/${requestId.toUpperCase()}`, '');
    expect(await calling).toMatchObject({ status: 504, reason: 'no_reply_at_device' });
    await expect.poll(() => dropped('bus')).toBeGreaterThan(0);
  });

  it('that was retained at the broker is dropped when the proxy reconnects', async () => {
    press.publish('press/out/0/5f2b8f0e-0000-4000-8000-000000000001', '{"old":true}', true);
    edge.broker.disconnect('edge-proxy');
    await expect.poll(() => edge.lines.some(({ msg }) => String(msg).includes('retained'))).toBe(true);
    press.publish('press/out/0/5f2b8f0e-0000-4000-8000-000000000001', '', true);
    await edge.ready();
    const calling = edge.call();
    (await press.next()).reply(0);
    expect((await calling).status).toBe(200);
  });

  it('of many megabytes is not read completely: the proxy reconnects, and the next call works', async () => {
    const calling = edge.call({ timeout: 5 });
    (await press.next()).reply(0, Buffer.alloc(8_388_608, 'x'));
    expect(await calling).toMatchObject({ status: 504 });
    expect(edge.lines.some(({ reason }) => /a module sent a packet of 8388\d+ bytes/.test(String(reason)))).toBe(true);
    await edge.ready();
    const next = edge.call();
    (await press.next()).reply(1);
    expect((await next).payload).toEqual({ status: 1 });
  });
});
