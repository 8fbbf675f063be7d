import type { DeliveryCounters } from '../events/deliveryCounters.ts';
import type { PartitionLog } from '../events/partitionLog.ts';
import { type Connections, connectionKinds } from '../network/connections.ts';

/** How the hub is doing, in numbers. */
export interface Counters extends DeliveryCounters {
  /** Events that the partitions have had in all, those that a restart brought back included. */
  appended: number;
  /** Open connections: all, and by whose they are; `unknown` have not said it yet. */
  connections: Record<'all' | 'events' | 'service' | 'device' | 'unknown', number>;
  /** AMQP links that are attached. */
  links: number;
  /** Links on which events are received. */
  receivers: {
    connection: number;
    name: string;
    address: string;
    /** Events that it may still be sent. */
    credit: number;
    /** Events that it was sent. */
    delivered: number;
  }[];
  /** Cloud-to-device messages that wait, or are delivered and not settled: all, and by device. */
  queued: { all: number; byDevice: Record<string, number> };
}

/** Count now. `queues` are the depths of the cloud-to-device queues. */
export function countAll(hub: {
  connections: Connections;
  partitions: readonly PartitionLog[];
  deliveryCounters: DeliveryCounters;
  queues: readonly (readonly [deviceId: string, depth: number])[];
}): Counters {
  const { deliveryCounters: tally } = hub;
  const open = hub.connections.list();
  const links = open.flatMap((connection) => [...connection.links].map((link) => ({ connection, link })));
  const byKind = connectionKinds.map((kind) => [kind, open.filter((each) => each.kind === kind).length] as const);
  const byDevice = hub.queues.filter(([, depth]) => depth > 0);
  return {
    appended: hub.partitions.reduce((sum, log) => sum + log.next(), 0),
    ...tally,
    connections: {
      all: open.length,
      ...(Object.fromEntries(byKind) as Record<(typeof connectionKinds)[number], number>),
      unknown: open.filter(({ kind }) => kind === undefined).length,
    },
    links: links.length,
    receivers: links
      .filter(({ link }) => link.receives !== undefined)
      .map(({ connection: { id }, link: { name, address, credit, transfers } }) => ({
        connection: id,
        name,
        address,
        credit: credit(),
        delivered: transfers(),
      })),
    queued: { all: byDevice.reduce((sum, [, depth]) => sum + depth, 0), byDevice: Object.fromEntries(byDevice) },
  };
}
