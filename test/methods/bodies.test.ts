import { describe, expect, it } from 'vitest';
import { startForAll, startForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { mostBodies } from '../../src/settings/constants.ts';
import { methodDevice, succeed } from './support/methodDevice.ts';
import { type RawRequest, rawRequest } from './support/rawRequest.ts';
import { conveyor, startTestFrontDoor, type TestFrontDoor } from './support/testFrontDoor.ts';

// Bodies that come slowly, and `Expect` (M14, D43).

const setup = startForAll(() => startTestFrontDoor({ inFlightPerDevice: 1 }));
void startForAll(() => methodDevice(setup.hub, 'motor-1', succeed));

const send = (to: TestFrontDoor, headers: Readonly<Record<string, string>>, body = ''): RawRequest => {
  const all = {
    host: 'x',
    authorization: `Bearer ${to.tokens.invoker}`,
    'content-type': 'application/json',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return rawRequest(to.instance.port, [`POST ${to.pathOf(conveyor, 'stop')} HTTP/1.1`, ...lines], body);
};

/** A request whose body has begun: the front door has asked for it. */
async function begin(to: TestFrontDoor, correlationId: string): Promise<RawRequest> {
  const begun = send(to, { 'content-length': '2', expect: '100-continue', 'x-correlation-id': correlationId });
  await begun.receives(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
  begun.socket.write('{');
  return begun;
}

describe('a body that is not complete', () => {
  it('takes no permit of the device', async () => {
    const slow = await begin(setup, 'slow');
    expect((await setup.call(conveyor, 'stop')).status).toBe(200);
    slow.socket.write('}');
    expect(await slow.receives(/"status":0\}$/)).toContain('HTTP/1.1 200 ');
    slow.socket.destroy();
  });

  it('is answered with 408 after ten seconds, and the connection is closed', async () => {
    const slow = await begin(setup, 'late');
    expect(await slow.ended()).toMatch(/HTTP\/1\.1 408 .*"reason":"request_timeout"/s);
    expect(await setup.lineOf('late')).toMatchObject({ status: 408, reason: 'request_timeout', level: 'info' });
  });

  it('counts for its caller, who can still send complete ones', async () => {
    const numbers = Array.from({ length: mostBodies.ofCaller }, (_, number) => `many-${number}`);
    const slow = await Promise.all(numbers.map((id) => begin(setup, id)));
    const more = send(setup, { 'content-length': '2', 'x-correlation-id': 'more' }, '{');
    expect(await more.ended()).toMatch(/^HTTP\/1\.1 503 .*retry-after: 1\r.*sends 100 bodies at once/s);
    expect((await setup.call(conveyor, 'stop')).status).toBe(200);
    for (const { socket } of slow) socket.destroy();
    await Promise.all(numbers.map((id) => setup.lineOf(id)));
    const again = await begin(setup, 'again');
    again.socket.write('}');
    expect(await again.receives(/"status":0\}$/)).toContain('HTTP/1.1 200 ');
    again.socket.destroy();
  });

  it('is answered when the front door stops', async () => {
    const stopping = await startForTest(startTestFrontDoor({ settings: { METHODS_DRAIN_SECONDS: '1' } }));
    const slow = await begin(stopping, 'stopped');
    const stopped = stopping.instance.stop();
    expect(await slow.ended()).toMatch(/HTTP\/1\.1 503 .*"reason":"stopping"/s);
    await stopped;
    expect(await stopping.lineOf('stopped')).toMatchObject({ status: 503, reason: 'stopping' });
  });
});

describe('the header Expect', () => {
  it('with an unknown expectation is refused', async () => {
    const called = await setup.call(conveyor, 'stop', {}, { headers: { expect: '200-ok' } });
    expect([called.status, called.error?.meta]).toEqual([417, { reason: 'expectation_failed', invoked: 'no' }]);
    expect(called.error?.detail).toMatch(/may only be 100-continue/);
  });

  it('with 100-continue brings the body of a caller who may invoke', async () => {
    const polite = await begin(setup, 'polite');
    polite.socket.write('}');
    expect(await polite.receives(/"status":0\}$/)).toContain('HTTP/1.1 200 ');
    polite.socket.destroy();
  });

  it.each([
    ['the caller may not invoke', { authorization: 'Bearer x' }, 401],
    ['the body will not be read', { 'content-length': '262145' }, 413],
  ])('with 100-continue brings no body when %s', async (_, headers, status) => {
    const polite = send(setup, { expect: '100-continue', 'content-length': '2', ...headers });
    expect(await polite.receives(/\}\]\}$/)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    polite.socket.destroy();
  });
});

it.each([
  ['of another type', { 'content-type': 'text/plain' }, 415],
  ['too large', { 'content-length': '262145' }, 413],
])('what is wrong with the body is not told to callers who may not invoke: %s', async (_, headers, status) => {
  const answerTo = async (token: string) => {
    const request = send(setup, { 'content-length': '2', authorization: `Bearer ${token}`, ...headers }, '{}');
    const answer = await request.receives(/\}\]\}$/);
    request.socket.destroy();
    return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
  };
  const { expired, reader, stranger, invoker } = setup.tokens;
  const answers = [];
  for (const token of ['', expired, reader, stranger, invoker]) answers.push(await answerTo(token));
  expect(answers).toEqual([401, 401, 403, 404, status]);
});
