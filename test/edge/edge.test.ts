import { expect, it, onTestFinished, vi } from 'vitest';
import { startForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { connectModule, startTestEdge, type TestEdge, type TestEdgeOptions } from './support/testEdge.ts';

// How the proxy ends, when it renews its connection to the hub, and what a restart of the broker is to a call, in this process (M13).

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

it('a module can reply after a restart of the broker during its call', async () => {
  const { edge, invoked, request } = await startInvoked();
  onTestFinished(() => edge.close());
  await edge.stopBroker();
  await expect.poll(async () => (await edge.readyz()).waitingFor.join()).toMatch(/the broker/);
  await edge.startBroker();
  await edge.ready();
  const again = await edge.module('press');
  again.publish(`press/out/6/${request.requestId}`, '');
  expect((await invoked).payload).toEqual({ status: 6 });
});
