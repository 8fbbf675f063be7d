import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { receiveBody } from '../../src/methods/receiveBody.ts';

// The limits of a body that is being received (M14).

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const receive = (body: PassThrough, ended = new AbortController().signal) => receiveBody(body, ended);
const failure = (reason: string, detail: RegExp) =>
  expect.objectContaining({ reason, detail: expect.stringMatching(detail) });

describe('a body', () => {
  it('may come in pieces of a byte', async () => {
    const body = new PassThrough();
    const received = receive(body);
    for (const byte of Buffer.from('{"input":{}}')) body.write(Buffer.of(byte));
    body.end();
    expect((await received).toString()).toBe('{"input":{}}');
  });

  it('may be empty', async () => {
    const body = new PassThrough();
    body.end();
    expect(await receive(body)).toHaveLength(0);
  });

  it('has 262,144 bytes at most', async () => {
    const [whole, more] = [new PassThrough(), new PassThrough()];
    whole.end(Buffer.alloc(262_144));
    expect(await receive(whole)).toHaveLength(262_144);
    more.end(Buffer.alloc(262_145));
    await expect(receive(more)).rejects.toEqual(failure('too_large', /more than 262,144 bytes/));
  });

  it('has ten seconds, however steadily it comes', async () => {
    const body = new PassThrough();
    const received = receive(body);
    const refused = expect(received).rejects.toEqual(failure('request_timeout', /within 10 seconds/));
    for (let second = 0; second < 10; second += 1) {
      body.write('x');
      await vi.advanceTimersByTimeAsync(1_000);
    }
    await refused;
    expect([body.isPaused(), body.listenerCount('data')]).toEqual([true, 0]);
  });

  it.each([
    ['before it is complete', (body: PassThrough) => setImmediate(() => body.destroy())],
    ['by an error', (body: PassThrough) => setImmediate(() => body.destroy(new Error('reset')))],
    ['before it is read', (body: PassThrough) => body.destroy()],
    ['long before it is read', (body: PassThrough) => once(body.destroy(), 'close')],
  ])('ends with its caller %s', async (_, leave) => {
    const body = new PassThrough();
    await leave(body);
    await expect(receive(body)).rejects.toEqual(failure('invalid_request', /caller has disconnected/));
  });

  it('ends with the stop of the front door', async () => {
    const stop = new AbortController();
    const received = receive(new PassThrough(), stop.signal);
    const cancelled = expect(received).rejects.toMatchObject({ name: 'Cancelled' });
    stop.abort();
    await cancelled;
  });
});
