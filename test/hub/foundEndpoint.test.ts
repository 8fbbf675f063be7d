import { expect, it, vi } from 'vitest';
import type { Consumer } from '../../src/hub/reading/consumer.ts';
import { NoEndpoint, readFoundEndpoint } from '../../src/hub/reading/foundEndpoint.ts';
import type { Log } from '../../src/observing/log.ts';
import { createTroubles } from '../../src/observing/log.ts';
import { failover } from '../../src/settings/constants.ts';
import { recordingLog } from '../support/observed.ts';
import { signal, withFakeTimers } from '../support/waiting.ts';

withFakeTimers();

const limits = { ...failover, othersMs: 100_000 };
const at = (eventHub: string) => ({ namespace: 'n.example', eventHub });
const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1_000);

function setUp() {
  const hub = {
    ...{ named: at('e1') as ReturnType<typeof at> | Error, opens: true, isHeld: false, forced: false },
    ...{ asked: 0, missing: [] as string[], answers: Promise.resolve(), left: 0 },
  };
  const steps: string[] = [];
  let eventAt = 0;
  const recorded = recordingLog();
  const log = { ...recorded, debug() {} } as unknown as Log;
  const reading = readFoundEndpoint({
    async lookUp() {
      hub.asked += 1;
      await hub.answers;
      if (hub.named instanceof Error) throw hub.named;
      const { namespace, eventHub } = hub.named;
      return { namespace: hub.asked % 2 === 0 ? namespace : namespace.toUpperCase(), eventHub }; // names have no case
    },
    async take(_, isForced) {
      hub.forced = isForced;
      return !hub.isHeld || isForced;
    },
    async open({ eventHub }) {
      if (!hub.opens) throw new Error('the store is away');
      eventAt = performance.now();
      return {
        start: () => steps.push(`start ${eventHub}`),
        stop: async () => void steps.push(`stop ${eventHub}`),
        ...{
          missing: () => hub.missing,
          leftSince: () => hub.left,
          silentForMs: () => 0,
          eventlessMs: () => performance.now() - eventAt,
        },
      } as unknown as Consumer;
    },
    moved: () => steps.push('moved'),
    ...{ limits, log, troubles: createTroubles(log) },
  });
  reading.start();
  const seen = () => {
    eventAt = performance.now();
  };
  return { hub, steps, reading, seen, lines: recorded.lines };
}

it('is read when the hub has named it, however long that takes; the readiness and one trouble say why it is not', async () => {
  const { hub, steps, reading, lines } = setUp();
  hub.named = new NoEndpoint('no such key', 'amqp:unauthorized-access');
  expect(reading.missing()).toEqual(['the hub’s event endpoint: it is looked up']);
  await seconds(13);
  const expected = [3, ['the hub’s event endpoint: no such key (HUB_SERVICE_CONNECTION_STRING)']];
  expect([hub.asked, reading.missing()]).toEqual(expected);
  expect(lines).toMatchObject([
    { level: 'warn', fields: { setting: 'HUB_SERVICE_CONNECTION_STRING', cause: 'amqp:unauthorized-access' } },
  ]);
  expect(reading.silentForMs()).toBeLessThan(5_000); // a refusal is an answer: a restart would change nothing
  Object.assign(hub, { named: at('e1'), opens: false });
  await seconds(6);
  expect(reading.missing()).toEqual(['the hub’s event endpoint: the store is away']);
  hub.opens = true;
  await seconds(5);
  expect([steps, reading.missing()]).toEqual([['start e1'], []]);
  await reading.stop();
  expect(steps).toEqual(['start e1', 'stop e1']);
});

it('is held back while other instances have work of the endpoint before, for a limited time', async () => {
  const { hub, steps, reading } = setUp();
  hub.isHeld = true;
  await seconds(99);
  const expected = [[], ['the hub’s event endpoint: other instances have work of the endpoint before']];
  expect([steps, reading.missing()]).toEqual(expected);
  await seconds(10);
  expect([steps, hub.forced]).toEqual([['start e1'], true]);
  await reading.stop();
});

it.each([
  ['while a partition is not read, every half minute', ['partition 0'], true, 30],
  ['while no event comes, every two minutes', [], false, 120],
  ['while events come, never', [], true, undefined],
])('is looked up again %s', async (_, missing, haveEvents, everySeconds) => {
  const { hub, steps, seen, reading } = setUp();
  await seconds(1);
  hub.missing = missing;
  const timer = haveEvents ? setInterval(seen, 1_000) : undefined;
  await seconds(600);
  clearInterval(timer);
  expect([hub.asked - 1, steps]).toEqual([everySeconds === undefined ? 0 : 600 / everySeconds, ['start e1']]);
  await reading.stop();
});

it('a partition that is read again in time, again and again, is no reason to look it up', async () => {
  const { hub, seen, reading } = setUp();
  await seconds(1);
  for (let round = 0; round < 20; round += 1) {
    hub.missing = ['partition 0'];
    await seconds(28);
    seen();
    hub.missing = [];
    await seconds(2);
  }
  expect(hub.asked).toBe(1);
  await reading.stop();
});

it.each([
  ['', 0],
  [', and tells what it leaves', 3],
])('when the hub names another one, the process is to stop%s', async (_, left) => {
  const { hub, steps, reading, lines } = setUp();
  await seconds(1);
  Object.assign(hub, { named: at('e2'), missing: ['partition 0'], left });
  await seconds(31);
  expect(steps).toEqual(['start e1', 'moved']);
  await reading.stop();
  expect(steps.slice(2)).toEqual(['stop e1']);
  const messagesLeft = { level: 'warn', fields: { endpoint: 'N.EXAMPLE/e1', unfinished: left } };
  expect(lines.slice(1)).toMatchObject([
    { level: 'warn', fields: { from: 'N.EXAMPLE/e1', to: 'n.example/e2' } },
    ...(left > 0 ? [messagesLeft] : []),
  ]);
});

it('a failover that the hub names during a stop changes nothing', async () => {
  const { hub, steps, reading } = setUp();
  const { given: answers, give: answer } = signal();
  await seconds(1);
  Object.assign(hub, { named: at('e2'), missing: ['partition 0'], answers });
  await seconds(31);
  expect(hub.asked).toBe(2);
  await reading.stop();
  answer();
  await seconds(200);
  expect(steps).toEqual(['start e1', 'stop e1']);
});
