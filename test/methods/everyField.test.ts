import { expect, it } from 'vitest';
import { startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { codesIn, readPage } from '../docs/markdown.ts';
import { methodDevice } from './support/methodDevice.ts';
import { flap, type Line, startTestFrontDoor } from './support/testFrontDoor.ts';

// Each field of an invocation's line has a value of its own: two that are swapped, or one that tells of another, show.

const setup = startForAll(startTestFrontDoor);
const gateway = startForAll(() => methodDevice(setup.hub, 'gateway-1'));

/** The fields of the lines so far. */
const seen = new Set<string>();
const traceId = '0af7651916cd43dd8448eb211c80319c';
const headersOf = (id: string) => ({
  'x-correlation-id': id,
  traceparent: `00-${traceId}-b7ad6b7169203331-01`,
  'content-type': 'application/json',
  authorization: `Bearer ${setup.tokens.invoker}`,
});
const body = { timeout: 17 };

async function lineOf(id: string): Promise<Line> {
  const line = await setup.lineOf(id);
  for (const field of Object.keys(line)) seen.add(field);
  return line;
}

/** What each line has when the caller may invoke the method. */
const common = (id: string) => ({
  ...{ time: expect.any(String), level: expect.any(String), msg: expect.any(String), event: expect.any(String) },
  ...{ correlationId: id, traceId, caller: { sub: 'control-room', azp: 'control-room' } },
  ...{ objectId: setup.objectIdOf(flap), model: 'svc.device', method: 'stop' },
  ...{ device: 'gateway-1', target: 'bus/drive-1', timeout: 17, durationMs: expect.any(Number) },
});

it('a look-up that fails is logged with its cause', async () => {
  setup.backends.faults.add({ backend: 'typeRegistry', times: 1, status: 418 });
  expect((await setup.call(flap, 'stop', body, { headers: headersOf('c-1') })).status).toBe(503);
  expect(await lineOf('c-1')).toEqual({
    ...common('c-1'),
    ...{ status: 503, reason: 'backend_unavailable', invoked: 'no', details: expect.stringContaining('a look-up') },
    cause: expect.stringContaining('HTTP 418'),
  });
});

it('an invocation is logged with the status of the method, the total time and that of the hub', async () => {
  setup.backends.faults.add({ backend: 'informationModel', times: 1, delayMs: 50 });
  const calling = setup.call(flap, 'stop', body, { headers: headersOf('c-2') });
  (await gateway.next()).respond(200, { status: 204 });
  expect((await calling).status).toBe(200);
  const line = await lineOf('c-2');
  expect(line).toEqual({ ...common('c-2'), status: 200, methodStatus: 204, hubMs: expect.any(Number) });
  expect(Number(line['durationMs'])).toBeGreaterThan(Number(line['hubMs'])); // the information model took 50 ms of it
});

it('a call that the hub refuses is logged with its status and code', async () => {
  setup.hub.faults.add({ kind: 'method', answer: 'refuse', errorCode: 403800 });
  expect((await setup.call(flap, 'stop', body, { headers: headersOf('c-3') })).status).toBe(429);
  setup.hub.faults.clear();
  expect(await lineOf('c-3')).toEqual({
    ...common('c-3'),
    ...{ status: 429, hubStatus: 403, errorCode: 403800, hubMs: expect.any(Number) },
    ...{ reason: 'throttled', invoked: 'no', details: expect.stringContaining('for this device') },
  });
});

it('a caller who has disconnected is logged', async () => {
  const impatient = new AbortController();
  const request = { method: 'POST', headers: headersOf('c-4'), body: JSON.stringify(body), signal: impatient.signal };
  const calling = fetch(setup.url + setup.pathOf(flap, 'stop'), request).catch(() => 'ended');
  const call = await gateway.next();
  impatient.abort();
  expect(await calling).toBe('ended');
  call.respond(200, { status: 205 });
  expect(await lineOf('c-4')).toEqual({
    ...common('c-4'),
    ...{ callerGone: true, methodStatus: 205, hubMs: expect.any(Number) },
  });
});

it('docs/methods.md has the fields of all these lines', () => {
  const [text = ''] = /\*\*The log\*\* has one line for each request.*?No line has/s.exec(readPage('methods.md')) ?? [];
  const listed = codesIn(text).filter((code) => /^\w+$/.test(code) && !['sub', 'azp'].includes(code));
  const own = [...seen].filter((field) => !['time', 'level', 'msg', 'event'].includes(field));
  expect(listed.sort()).toEqual(own.sort());
});
