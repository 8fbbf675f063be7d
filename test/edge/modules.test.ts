import { beforeAll, describe, expect, it } from 'vitest';
import { startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { startTestEdge } from './support/testEdge.ts';

// Requests to modules and their replies (M10, M11); their rules are rows of proxy.test.ts, routing.test.ts and reply.test.ts.

const edge = startForAll(startTestEdge);
beforeAll(() => edge.ready());
const press = startForAll(() => edge.module('press'));

describe('a module', () => {
  it('gets an invocation under its method, with the inputs, and its reply is the response {S24.1}', async () => {
    const method = '停止 Größe.\u{1F6D1}';
    const calling = edge.call({ method, input: { rpm: 1450, label: 'é\u{1F600}' } });
    const request = await press.next();
    expect(request.method).toBe(method);
    expect(request.topic).toMatch(
      /^press\/in\/[^/]+\/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
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

  it('may send a reply of many megabytes, which is not read completely: the proxy reconnects, and the next call works', async () => {
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
