import rhea, { type EventContext } from 'rhea';
import { positionAnnotations } from '../events/deviceEvent.ts';
import type { Events } from '../events/events.ts';
import type { PartitionLog } from '../events/partitionLog.ts';
import { answer } from '../faults/answering.ts';
import type { StandingFaults } from '../faults/standing.ts';
import type { Right } from '../identity/policies.ts';
import type { IdleRules } from '../limits/idle.ts';
import { claimRequired, noSuchPartition } from './conditions.ts';
import { detachWhenSilent } from './idleLink.ts';
import { unpack } from './link/batch.ts';
import { dispositions, type Node, notFound, refuse } from './link/peer.ts';

const form = /^(?<hub>[^/]+)(\/Partitions\/(?<partition>[^/]+))?$/i;

/**
 * `HUB` or `HUB/Partitions/N`: where producers send events, singly or in batches. Needs the right to send, which no policy of
 * an IoT hub has at its event endpoint; `ownerMaySend` gives it. Without a partition in the address the partition key
 * decides; without a key the partitions take turns. Such events carry no identity stamps, unless it is an
 * event hub of its own, which takes whatever stamps a sender writes.
 */
export function producerNode(hub: {
  hubName: string;
  right: Right;
  /** Whether the stamps that a sender writes stay. */
  keepsStamps: boolean;
  events: Events;
  faults: StandingFaults;
  idle: IdleRules;
}): Node {
  const { hubName, right, keepsStamps, events, faults, idle } = hub;
  let turn = 0;

  const choose = (partition: string | undefined, key: unknown): PartitionLog => {
    const { partitions } = events;
    if (partition === undefined && typeof key === 'string') return events.partitionOf(key);
    const log = partition === undefined ? partitions[turn++ % partitions.length] : partitions[Number(partition)];
    if (!log) throw noSuchPartition(partitions.length);
    return log;
  };

  return {
    accept(receiver, { claims, connection }, link) {
      const { path } = link;
      const { hub = '', partition } = form.exec(path)?.groups ?? {};
      const authorised = () => claims.find(right, path.split('/')) !== undefined;
      const unauthorised = () => claimRequired('Send', hubName, path);
      if (hub.toLowerCase() !== hubName.toLowerCase()) throw notFound(link.address);
      if (!authorised()) throw unauthorised();
      if (partition !== undefined && !events.partitions.some(({ id }) => String(id) === partition))
        throw noSuchPartition(events.partitions.length);

      link.allowed = authorised;
      detachWhenSilent(receiver, link, idle.publisher);
      receiver.on('message', (context: EventContext) => {
        if (!authorised()) return refuse(link, unauthorised());
        const take = () => {
          const parcel = unpack(context);
          const log = choose(partition, parcel.annotations['x-opt-partition-key']);
          for (const event of parcel.messages)
            log.append((position) => {
              const given = event.message_annotations;
              const stamps = keepsStamps ? given : withoutStamps(given);
              const message_annotations = { ...stamps, ...positionAnnotations(position) };
              const { sections } = event;
              if (!sections) return rhea.message.encode({ ...event, message_annotations });
              return Buffer.concat([rhea.message.encode({ ...event, message_annotations, body: noBody }), sections]);
            });
        };
        const arrival = { kind: 'events', deviceId: undefined, connection, link } as const;
        answer(faults, arrival, take, dispositions(context.delivery));
      });
    },
  };
}

const noBody = { collect_sections: () => undefined };

function withoutStamps(annotations: Record<string, unknown> = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => !name.startsWith('iothub-')));
}
