import { expect, it } from 'vitest';
import { startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { methodDevice, succeed } from './support/methodDevice.ts';
import { type RawRequest, rawRequest } from './support/rawRequest.ts';
import { conveyor, startTestFrontDoor } from './support/testFrontDoor.ts';

// Bodies that come slowly, and `Expect` (M14, D43): one by one in requestBody.test.ts and requestHandler.test.ts.

const setup = startForAll(() => startTestFrontDoor({ inFlightPerDevice: 1 }));
void startForAll(() => methodDevice(setup.hub, 'motor-1', succeed));

const send = (headers: Readonly<Record<string, string>>, body = ''): RawRequest => {
  const all = {
    host: 'x',
    authorization: `Bearer ${setup.tokens.invoker}`,
    'content-type': 'application/json',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return rawRequest(setup.instance.port, [`POST ${setup.pathOf(conveyor, 'stop')} HTTP/1.1`, ...lines], body);
};

/** A request whose body has begun: the front door has asked for it. */
async function begin(): Promise<RawRequest> {
  const begun = send({ 'content-length': '2', expect: '100-continue' });
  await begun.receives(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
  begun.socket.write('{');
  return begun;
}

it('a body that is asked for takes no permit of the device before it is complete', async () => {
  const slow = await begin();
  expect((await setup.call(conveyor, 'stop')).status).toBe(200);
  slow.socket.write('}');
  expect(await slow.receives(/"status":0\}$/)).toContain('HTTP/1.1 200 ');
  slow.socket.destroy();
});

it.each([
  ['of another type', { 'content-type': 'text/plain' }, 415],
  ['too large', { 'content-length': '262145' }, 413],
])('what is wrong with the body is not told to callers who may not invoke: %s', async (_, headers, status) => {
  const answerTo = async (token: string) => {
    const request = send({ 'content-length': '2', authorization: `Bearer ${token}`, ...headers }, '{}');
    const answer = await request.receives(/\}\]\}$/);
    request.socket.destroy();
    return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
  };
  const { expired, reader, stranger, invoker } = setup.tokens;
  const answers = [];
  for (const token of ['', expired, reader, stranger, invoker]) answers.push(await answerTo(token));
  expect(answers).toEqual([401, 401, 403, 404, status]);
});
