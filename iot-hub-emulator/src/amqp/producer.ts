import type { EventContext } from 'rhea';
import { codes, type Entry, entriesOf } from '../events/amqpSections.ts';
import { createAmqpWriter } from '../events/amqpWriter.ts';
import { positionNames, writePosition } from '../events/deviceEvent.ts';
import type { Events } from '../events/events.ts';
import type { PartitionLog } from '../events/partitionLog.ts';
import { answer } from '../faults/answering.ts';
import type { StandingFaults } from '../faults/standing.ts';
import type { Right } from '../identity/policies.ts';
import type { IdleRules } from '../limits/idle.ts';
import type { EventPosition } from '../values/loggedEvent.ts';
import { claimRequired, noSuchPartition } from './conditions.ts';
import { detachWhenSilent } from './idleLink.ts';
import { unpack } from './link/batch.ts';
import { dispositions, type Incoming, type Node, notFound, refuse } from './link/peer.ts';

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
          for (const event of parcel.messages) log.append((position) => placed(event, position, keepsStamps));
        };
        const arrival = { kind: 'events', deviceId: undefined, connection, link } as const;
        answer(faults, arrival, take, dispositions(context.delivery));
      });
    },
  };
}

const writer = createAmqpWriter();

/** An event with its position in its partition: all that its sender wrote for receivers stays as it is, stamps perhaps. */
function placed({ encoded: { head, rest } }: Incoming, position: EventPosition, keepsStamps: boolean): Buffer {
  const write = (section: Buffer | undefined) => section && writer.encoded(section);
  const isKept = ({ key = '' }: Entry) =>
    !positionNames.some((name) => name === key) && (keepsStamps || !key.startsWith('iothub-'));
  const given = head.get(codes.messageAnnotations);
  const kept = given ? entriesOf(given).filter(isKept) : [];
  write(head.get(codes.header));
  writer.section(codes.messageAnnotations);
  writer.compound('map', 2 * (kept.length + positionNames.length), () => {
    for (const { bytes } of kept) writer.encoded(bytes);
    writePosition(writer, position);
  });
  for (const code of [codes.properties, codes.applicationProperties]) write(head.get(code));
  writer.encoded(rest);
  write(head.get(codes.footer));
  return writer.take();
}
