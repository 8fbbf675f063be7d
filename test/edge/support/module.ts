import mqtt from 'mqtt';

/** A request to a module. */
export interface Received {
  readonly topic: string;
  /** The segment before the request id: the method, or `$proxy`. */
  readonly method: string;
  readonly requestId: string;
  readonly text: string;
  readonly isRetained: boolean;
  reply(status: number | string, payload?: unknown): void;
}

/** A module, connected to the broker. */
export type TestModule = Awaited<ReturnType<typeof connectModule>>;

interface ModuleOptions {
  readonly url: string;
  readonly id: string;
  readonly isSubscribed?: boolean;
  readonly answer?: (request: Received) => void;
}

/** The user name and the prefix of the topics are the id of the module. */
export async function connectModule({ url, id, isSubscribed = true, answer }: ModuleOptions) {
  const client = await mqtt.connectAsync(url, { username: id, password: `${id}-secret`, reconnectPeriod: 50 });
  client.on('error', () => {});
  const received: Received[] = [];
  const takers: ((request: Received) => void)[] = [];
  let taken = 0;
  const take = () => {
    const request = received[taken];
    const taker = request && takers.shift();
    if (!request || !taker) return;
    taken += 1;
    taker(request);
  };
  client.on('message', (topic, payload, { retain }) => {
    const [method = '', requestId = ''] = topic.split('/').slice(-2);
    const request: Received = {
      ...{ topic, method, requestId, text: payload.toString(), isRetained: retain },
      reply(status, body) {
        const text =
          body === undefined ? '' : typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
        client.publish(`${id}/out/${status}/${requestId}`, text);
      },
    };
    received.push(request);
    take();
    answer?.(request);
  });
  if (isSubscribed) await client.subscribeAsync(`${id}/in/#`);
  return {
    client,
    received: received as readonly Received[],
    /** The next request that has not been returned yet. */
    next() {
      const next = new Promise<Received>((resolve) => takers.push(resolve));
      take();
      return next;
    },
    publish: (topic: string, payload: string | Buffer, retain = false) =>
      void client.publish(topic, payload, { retain }),
    close: () => client.endAsync(true),
  };
}
