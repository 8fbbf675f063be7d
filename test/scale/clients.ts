import { EventHubConsumerClient } from '@azure/event-hubs';

type Client = Pick<EventHubConsumerClient, 'getPartitionIds' | 'getPartitionProperties' | 'subscribe' | 'close'>;

/** The clients of simulated processes: real ones, which the service makes and corrects, but what they do is done in memory. */
export interface StandInClients {
  /**
   * @param open what a client with that connection string does
   * @returns the connection string
   */
  add(name: string, open: () => Client): string;
  end(): void;
}

const verbs = ['getPartitionIds', 'getPartitionProperties', 'subscribe', 'close'] as const;

export function standInForClients(): StandInClients {
  const opening = new Map<string, () => Client>();
  const standIns = new WeakMap<EventHubConsumerClient, Client>();
  const { prototype } = EventHubConsumerClient;
  const real = verbs.map((verb) => [verb, prototype[verb]] as const);

  function standInFor(client: EventHubConsumerClient): Client {
    const open = opening.get(client.fullyQualifiedNamespace);
    if (open === undefined) throw new Error(`no process has the hub ${client.fullyQualifiedNamespace}`);
    const known = standIns.get(client) ?? open();
    standIns.set(client, known);
    return known;
  }

  for (const verb of verbs) {
    Object.assign(prototype, {
      [verb](this: EventHubConsumerClient, ...args: never[]) {
        return (standInFor(this)[verb] as (...given: never[]) => unknown)(...args);
      },
    });
  }
  return {
    add(name, open) {
      const host = `${name}.example`;
      opening.set(host, open);
      return `Endpoint=sb://${host}/;SharedAccessKeyName=name;SharedAccessKey=key;EntityPath=hub`;
    },
    end() {
      for (const [verb, method] of real) Object.assign(prototype, { [verb]: method });
    },
  };
}
