import rhea from 'rhea';
import type { PartitionLog } from '../events/partitionLog.ts';
import type { StandingFaults } from '../faults/standing.ts';
import { type Node, notFound } from './link/peer.ts';
import { type Answer, requestNode } from './link/requests.ts';

const { wrap_array, wrap_int, wrap_long, wrap_timestamp } = rhea.types;
const shortString = 0xa1;

// operation=READ, name=HUB, type=com.microsoft:eventhub | com.microsoft:partition, partition=N

/** `$management`: what the event side looks like. Needs the right to listen. */
export function managementNode(hub: {
  name: string;
  createdAt: Date;
  partitions: readonly PartitionLog[];
  faults: StandingFaults;
}): Node {
  return requestNode('$management', ({ application_properties: asked = {} }, { claims }) => {
    const { operation, name, type, partition } = asked;
    if (String(name).toLowerCase() !== hub.name.toLowerCase()) {
      const { condition, message } = notFound(String(name));
      return failure(404, condition, message);
    }
    if (!claims.find('listen', [hub.name, '$management']))
      return failure(401, 'amqp:unauthorized-access', 'No token on this connection gives the right to listen.');
    if (operation !== 'READ') return failure(400, 'amqp:not-implemented', 'Only READ is known.');
    if (type === 'com.microsoft:eventhub') return { status: 200, description: 'OK', body: describeHub() };
    if (type !== 'com.microsoft:partition')
      return failure(400, 'amqp:not-implemented', 'Only event hubs and partitions can be read.');
    const log = hub.partitions.find(({ id }) => String(id) === String(partition));
    if (!log) return failure(400, 'com.microsoft:argument-out-of-range', 'There is no such partition.');
    return { status: 200, description: 'OK', body: describePartition(log) };
  });

  function describeHub(): Record<string, unknown> {
    const ids = hub.partitions.map(({ id }) => String(id));
    return {
      name: hub.name,
      type: 'com.microsoft:eventhub',
      created_at: wrap_timestamp(hub.createdAt),
      partition_count: wrap_int(ids.length),
      partition_ids: wrap_array(ids, shortString, undefined),
    };
  }

  function describePartition(log: PartitionLog): Record<string, unknown> {
    const fault = hub.faults.strike('partition-info', { partition: String(log.id) })?.fault;
    const missed = fault?.answer === 'stale' ? (fault.events ?? 100) : 0;
    const lastNumber = Math.max(log.first() - 1, log.next() - 1 - missed);
    const last = log.at(lastNumber);
    return {
      name: hub.name,
      type: 'com.microsoft:partition',
      partition: String(log.id),
      begin_sequence_number: wrap_long(log.first()),
      last_enqueued_sequence_number: wrap_long(lastNumber),
      last_enqueued_offset: fault?.answer === 'no-offset' ? null : String(last?.offset ?? -1),
      last_enqueued_time_utc: wrap_timestamp(last?.enqueuedTime ?? 0),
      is_partition_empty: last === undefined,
    };
  }
}

function failure(status: number, condition: string, description: string): Answer {
  return { status, condition, description };
}
