import type { MqttClient } from 'mqtt';
import { beforeEach, expect, it, vi } from 'vitest';
import { createSubscriptions } from '../../edge/src/modules/brokerConnection.ts';
import { createReplyTopics } from '../../edge/src/modules/routing.ts';
import { createLog } from '../../edge/src/observing/log.ts';
import { modules } from './support/testProxy.ts';

// The subscriptions of a connection to a broker that answers as the test says.

let asked: string[];
let lines: Record<string, unknown>[];
let refused: Set<string>;
const topics = createReplyTopics(modules, () => {});
const client = {
  ...{ connected: true, failure: undefined as Error | undefined, gate: Promise.resolve() },
  async subscribeAsync(filter: string) {
    asked.push(`+ ${filter}`);
    await this.gate;
    if (this.failure) throw this.failure;
    return [{ topic: filter, qos: refused.has(filter) ? 128 : 0 }];
  },
  async unsubscribeAsync(filter: string) {
    asked.push(`- ${filter}`);
  },
};
let subscriptions: ReturnType<typeof createSubscriptions>;
beforeEach(() => {
  [asked, lines, refused] = [[], [], new Set()];
  Object.assign(client, { connected: true, failure: undefined });
  topics.use(modules);
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) });
  subscriptions = createSubscriptions(client as unknown as MqttClient, topics, log);
});
const subscribed = () => ['press/out', 'bus/out', 'camera/out'].filter(subscriptions.has);

it('an update subscribes to what is missing, and unsubscribes from what is not wanted any more', async () => {
  await subscriptions.update();
  expect(asked).toEqual(['+ press/out/+/+', '+ bus/out/+/+', '+ camera/out/+/+']);
  expect(subscribed()).toEqual(['press/out', 'bus/out', 'camera/out']);
  topics.use(modules.slice(0, 1));
  await subscriptions.update();
  topics.use(modules.slice(0, 2));
  await subscriptions.update();
  expect(asked.slice(3)).toEqual(['- bus/out/+/+', '- camera/out/+/+', '+ bus/out/+/+']);
  expect(subscribed()).toEqual(['press/out', 'bus/out']);
  subscriptions.clear();
  expect(subscribed()).toEqual([]);
});

it('updates come one after the other', async () => {
  let open = () => {};
  client.gate = new Promise((resolve) => (open = resolve));
  const first = subscriptions.update();
  await vi.waitFor(() => expect(asked).toHaveLength(1));
  topics.use(modules.slice(0, 2));
  const second = subscriptions.update();
  open();
  await Promise.all([first, second]);
  expect(asked).toEqual(['+ press/out/+/+', '+ bus/out/+/+', '+ camera/out/+/+', '- camera/out/+/+']);
});

it.each<[string, () => void]>([
  ['an answer', () => refused.add('bus/out/+/+')],
  ['an error', () => Object.assign(client, { failure: new Error('not authorized') })],
])('a subscription that the broker refuses with %s is logged once, and tried at each update', async (_, refuse) => {
  topics.use(modules.slice(1, 2));
  refuse();
  await subscriptions.update();
  await subscriptions.update();
  expect([asked, subscribed()]).toEqual([['+ bus/out/+/+', '+ bus/out/+/+'], []]);
  const line = { event: 'broker.subscription_refused', module: 'bus', topic: 'bus/out/+/+' };
  expect(lines).toMatchObject([line]);
  refused.clear();
  client.failure = undefined;
  await subscriptions.update();
  expect(subscribed()).toEqual(['bus/out']);
  subscriptions.clear();
  refuse();
  await subscriptions.update();
  expect(lines).toMatchObject([line, line]);
});

it('an update fails when the connection does, and the next one tries again', async () => {
  Object.assign(client, { connected: false, failure: new Error('closed') });
  await expect(subscriptions.update()).rejects.toThrow('closed');
  expect([asked, lines]).toEqual([['+ press/out/+/+'], []]);
  Object.assign(client, { connected: true, failure: undefined });
  await subscriptions.update();
  expect(subscribed()).toHaveLength(3);
});
