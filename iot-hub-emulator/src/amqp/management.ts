import rhea from 'rhea';
import type { Numbering } from '../events/numbering.ts';
import type { PartitionLog } from '../events/partitionLog.ts';
import type { StandingFaults } from '../faults/standing.ts';
import type { Access } from '../identity/access.ts';
import type { Right } from '../identity/policies.ts';
import type { Ways } from '../otherwise/ways.ts';
import { Refusal } from '../values/refusal.ts';
import { claimRequired, noSuchPartition } from './conditions.ts';
import type { Claims } from './link/claims.ts';
import { type Node, notFound } from './link/peer.ts';
import { type Answer, requestNode } from './link/requestNode.ts';
import { tokenOf } from './link/tokenOf.ts';

const { wrap_array, wrap_int, wrap_long, wrap_timestamp } = rhea.types;
const shortString = 0xa1;

// operation=READ, name=HUB, type=com.microsoft:eventhub | com.microsoft:partition, partition=N, security_token=<token>
// azure-eventhub 5.11 for Python describes the time of expiry with the token: that is none

/** One that can be asked about. */
export interface ManagedEventHub {
  readonly name: string;
  /** What a token must allow. */
  readonly right: Right;
  readonly partitions: readonly PartitionLog[];
}

/**
 * `$management`: what the event side looks like. Needs the right to listen, by the token in the request itself, or where
 * there is none by one of the connection.
 */
export function managementNode({
  eventHubs,
  createdAt,
  access,
  faults,
  numbering,
  otherwise,
  now,
}: {
  /** Those that can be read. */
  eventHubs: () => readonly ManagedEventHub[];
  createdAt: Date;
  access: Access;
  faults: StandingFaults;
  numbering: Numbering;
  otherwise: Ways;
  now: () => number;
}): Node {
  return requestNode('$management', ({ application_properties: asked = {} }, { claims }) => {
    const { operation, name, type, partition, security_token: token } = asked;
    const hub = eventHubs().find((each) => each.name.toLowerCase() === String(name).toLowerCase());
    if (!hub) {
      const { condition, message } = notFound(String(name));
      return failure(404, condition, message);
    }
    const refused = refusal(hub, token, claims);
    if (refused) return failure(401, refused.condition, refused.message);
    if (operation !== 'READ') return failure(400, 'amqp:not-implemented', 'Only READ is known.');
    if (type === 'com.microsoft:eventhub') return { status: 200, description: 'OK', body: describeHub(hub) };
    if (type !== 'com.microsoft:partition')
      return failure(400, 'amqp:not-implemented', 'Only event hubs and partitions can be read.');
    const log = hub.partitions.find(({ id }) => String(id) === String(partition));
    if (!log) {
      const { condition, message } = noSuchPartition(hub.partitions.length);
      return failure(400, condition, message);
    }
    return { status: 200, description: 'OK', body: describePartition(hub, log) };
  });

  /** Why this request may not be answered. */
  function refusal(hub: ManagedEventHub, token: unknown, claims: Claims): Refusal | undefined {
    const path = [hub.name, '$management'];
    const required = () => claimRequired('Listen', hub.name, path.join('/'));
    const text = tokenOf(token);
    if (text === undefined) return claims.find(hub.right, path) ? undefined : required();
    try {
      const { rights } = access.claim(text, `sb://localhost/${path.join('/')}`);
      return rights.has(hub.right) ? undefined : required();
    } catch (error) {
      if (error instanceof Refusal) return error;
      throw error;
    }
  }

  function describeHub(hub: ManagedEventHub): Record<string, unknown> {
    const ids = hub.partitions.map(({ id }) => String(id));
    return {
      name: hub.name,
      type: 'com.microsoft:eventhub',
      created_at: wrap_timestamp(createdAt),
      partition_count: wrap_int(ids.length),
      partition_ids: wrap_array(ids, shortString, undefined),
    };
  }

  function describePartition(hub: ManagedEventHub, log: PartitionLog): Record<string, unknown> {
    const fault = faults.strike('partition-info', { partition: String(log.id) })?.fault;
    const missed = fault?.answer === 'stale' ? (fault.events ?? 100) : 0;
    const newest = otherwise.has('reading.stale-info') ? newestOnce(log, now() - staleMs) : log.next() - 1;
    const lastNumber = Math.max(log.first() - 1, newest - missed);
    const last = log.at(lastNumber);
    return {
      name: hub.name,
      type: 'com.microsoft:partition',
      partition: String(log.id),
      begin_sequence_number: wrap_long(numbering.sequenceNumber(log.first())),
      last_enqueued_sequence_number: wrap_long(lastNumber < 0 ? lastNumber : numbering.sequenceNumber(lastNumber)),
      last_enqueued_offset: fault?.answer === 'no-offset' ? null : numbering.offset(last?.offset ?? -1),
      last_enqueued_time_utc: wrap_timestamp(last?.enqueuedTime ?? 0),
      is_partition_empty: last === undefined,
    };
  }
}

const staleMs = 10_000;

/** The newest event at that time. */
const newestOnce = (log: PartitionLog, at: number): number =>
  log.find({ by: 'enqueuedTime', value: at, inclusive: false }) - 1;

function failure(status: number, condition: string, description: string): Answer {
  return { status, condition, description };
}
