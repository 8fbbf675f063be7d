import { expect, it, onTestFinished, vi } from 'vitest';
import { startForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { connectModule, startTestEdge, type TestEdge, type TestEdgeOptions } from './support/testEdge.ts';

// How the proxy ends, and when it renews its connection to the hub, in this process (M13).

/** A proxy with an invocation in progress, whose module stays connected. */
async function startInvoked(options: TestEdgeOptions = {}) {
  const edge = await startTestEdge(options);
  const press = await startForTest(connectModule({ url: edge.broker.url, id: 'press' }));
  const invoked = edge.call();
  return { edge, invoked, request: await press.next() };
}
const eventsOf = ({ lines }: TestEdge) => lines.map(({ event }) => event);

it('a proxy that stops takes no more invocations, and waits for those in progress', async () => {
  const { edge, invoked, request } = await startInvoked();
  const closed = edge.close();
  await expect.poll(async () => (await edge.readyz()).waitingFor).toEqual(['the end of the stop']);
  expect((await edge.call()).payload).toEqual({ detail: 'the edge proxy is stopping', invoked: 'no' });
  request.reply(3);
  expect((await invoked).payload).toEqual({ status: 3 });
  await closed;
  expect(eventsOf(edge)).not.toContain('program.aborting');
  expect(eventsOf(edge).at(-1)).toBe('program.stopped');
});

it('a proxy that stops ends the invocations in progress when the drain time is over', async () => {
  const { edge, invoked } = await startInvoked({ limits: { drainSeconds: 0 } });
  await edge.close();
  const detail = 'the edge proxy stopped before the module replied';
  expect(await invoked).toMatchObject({ status: 504, payload: { detail, invoked: 'unknown' } });
  const aborting = edge.lines.filter(({ event }) => event === 'program.aborting');
  expect(aborting).toMatchObject([{ level: 'warn', inFlight: 1 }]);
  expect(eventsOf(edge).at(-1)).toBe('program.stopped');
});

it('the connection to the hub is renewed after 20 hours, when no invocation is in progress', async () => {
  const intervals = vi.spyOn(globalThis, 'setInterval');
  const { edge, invoked, request } = await startInvoked();
  onTestFinished(() => edge.close());
  const [look] = intervals.mock.calls.find(([, ms]) => ms === 86_400) ?? [];
  const laterOn = performance.now() + 73_000_000;
  const lookLater = () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(laterOn);
    look?.();
    now.mockRestore();
  };
  lookLater();
  request.reply(5);
  expect((await invoked).payload).toEqual({ status: 5 });
  expect(eventsOf(edge).filter((event) => event === 'hub.connected')).toHaveLength(1);
  await edge.ready();
  lookLater();
  await expect.poll(() => eventsOf(edge).filter((event) => event === 'hub.connected')).toHaveLength(2);
  await edge.ready();
});

// Many calls at once (M10, M11).

const _target = (index: number) => ({ objectId: 'ffffffff-7f2b-4f0e-8d57-3b8f2f6c9e11', target: `line/${index}` });

it('200 calls at once to one module each get their own reply', async () => {
  const edge = await startForTest(startTestEdge({ limits: { inFlight: 200, inFlightPerModule: 200 } }));
  const press = await edge.module('press');
  const calls = Array.from({ length: 200 }, (_, index) => edge.call({ method: 'count', input: { index } }));
  await expect.poll(() => press.received).toHaveLength(200);
  for (const request of press.received.toReversed())
    request.reply(JSON.parse(request.text).index, { text: 'x'.repeat(100) });
  expect((await Promise.all(calls)).map(({ payload }) => payload.status)).toEqual(Array.from(calls.keys()));
});

it('a module that does not reply uses capacity only until its calls time out, and a flood of replies is dropped', async () => {
  const edge = await startForTest(startTestEdge({ limits: { inFlight: 4, inFlightPerModule: 2 } }));
  const press = await edge.module('press');
  const silent = await Promise.all([edge.call({ timeout: 5 }), edge.call({ timeout: 5 })]);
  expect(silent.map(({ status }) => status)).toEqual([504, 504]);
  for (let index = 0; index < 5_000; index += 1) press.publish(`press/out/0/${index}`, 'x'.repeat(100));
  for (const request of press.received) for (let index = 0; index < 100; index += 1) request.reply(index);
  const calling = edge.call();
  await expect.poll(() => press.received).toHaveLength(3);
  press.received[2]?.reply(9);
  expect((await calling).payload).toEqual({ status: 9 });
  expect(edge.lines.filter(({ msg }) => String(msg).startsWith('replies dropped'))).toHaveLength(1); // in a minute
});
