import type { MqttClient } from 'mqtt';
import type { Log } from '../operations/log.ts';
import type { ReplyTopics } from './replyTopics.ts';

/** The subscriptions of one connection to the replies of modules. */
export interface Subscriptions {
  has(topic: string): boolean;
  /** Subscribes to the topics that are missing, and unsubscribes from those that are not wanted any more. */
  update(): Promise<void>;
  clear(): void;
}

export function createSubscriptions(client: MqttClient, topics: ReplyTopics, log: Log): Subscriptions {
  const subscribed = new Set<string>();
  /** They are tried again at each update, and logged once. */
  const refused = new Set<string>();
  let last: Promise<void> = Promise.resolve();

  async function subscribe(topic: string): Promise<void> {
    const filter = `${topic}/+/+`;
    const [granted] = await client.subscribeAsync(filter, { qos: 0 }).catch((error: Error) => {
      if (client.connected) return [{ qos: 128 }]; // this subscription failed, not the connection
      throw error;
    });
    if (granted && granted.qos < 128) {
      subscribed.add(topic);
      refused.delete(topic);
    } else if (!refused.has(topic)) {
      refused.add(topic);
      const module = topics.moduleOf(topic);
      log.error({ module, topic: filter }, 'the broker refuses the subscription to replies: see its access rules');
    }
  }

  async function updateNow(): Promise<void> {
    const wanted = new Set(topics.all());
    for (const topic of subscribed) {
      if (wanted.has(topic)) continue;
      subscribed.delete(topic);
      await client.unsubscribeAsync(`${topic}/+/+`);
    }
    for (const topic of wanted) if (!subscribed.has(topic)) await subscribe(topic);
  }

  return {
    has: (topic) => subscribed.has(topic),
    update() {
      last = last.then(updateNow, updateNow);
      return last;
    },
    clear: () => subscribed.clear(),
  };
}
