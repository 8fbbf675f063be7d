import rhea, { type Sender } from 'rhea';
import { codes, headOf } from '../events/amqpSections.ts';
import type { DeliveryCounters } from '../events/deliveryCounters.ts';
import type { Numbering } from '../events/numbering.ts';
import type { PartitionLog, StartPosition } from '../events/partitionLog.ts';
import type { StandingFaults } from '../faults/standing.ts';
import type { Right } from '../identity/policies.ts';
import type { Journal } from '../journal/journal.ts';
import type { Link } from '../network/connections.ts';
import type { Ways } from '../otherwise/ways.ts';
import { beforeOldest, beyondEnd, claimRequired, noSuchPartition } from './conditions.ts';
import { parseFilter } from './filter.ts';
import { creditOf } from './link/credit.ts';
import { sendUnsettled } from './link/links.ts';
import { type Node, notFound, type Peer, refuse } from './link/peer.ts';
import type { Owners } from './owners.ts';

const { wrap_long, wrap_timestamp } = rhea.types;
const form = /^(?<hub>[^/]+)\/ConsumerGroups\/(?<group>[^/]+)\/Partitions\/(?<partition>[^/]+)$/i;
const selectorName = 'apache.org:selector-filter:string';
const metricName = 'com.microsoft:enable-receiver-runtime-metric';
const epochName = 'com.microsoft:epoch';
const receiverName = 'com.microsoft:receiver-name';
const socketBacklog = 1024 * 1024;

/** Where events are received: `HUB/ConsumerGroups/GROUP/Partitions/N`. Consumer group names have no case. */
export function consumerNode(options: {
  hubName: string;
  /** What a token must allow. */
  right: Right;
  consumerGroups: readonly string[];
  partitions: readonly PartitionLog[];
  owners: Owners;
  journal: Journal;
  faults: StandingFaults;
  counters: DeliveryCounters;
  otherwise: Ways;
  numbering: Numbering;
  now: () => number;
}): Node {
  const { hubName, right, partitions, owners, journal, faults, counters: tally, otherwise, numbering, now } = options;
  const groups = new Set(options.consumerGroups.map((group) => group.toLowerCase()));

  const open = (sender: Sender, peer: Peer, link: Link): void => {
    const { address, path } = link;
    const { hub = '', group = '', partition } = form.exec(path)?.groups ?? {};
    if (hub.toLowerCase() !== hubName.toLowerCase() || !groups.has(group.toLowerCase())) throw notFound(address);
    const log = partitions.find(({ id }) => String(id) === partition);
    if (!log) throw noSuchPartition(partitions.length);
    const claim = () => peer.claims.find(right, path.split('/'));
    const { policy } = claim() ?? raise(claimRequired('Listen', hubName, path));
    const start = numbering.start(parseFilter(numbering.selector(sender.source.filter?.[selectorName]?.value)));
    if (!otherwise.has('reading.beyond-end')) refuseBeyondEnd(start, log);
    if (otherwise.has('reading.before-oldest')) refuseBeforeOldest(start, log);
    const { [epochName]: epoch, [receiverName]: name }: Record<string, unknown> = sender.properties ?? {};
    const leave = owners.admit(`${group}/${partition}`.toLowerCase(), {
      name: typeof name === 'string' ? name : undefined,
      epoch: typeof epoch === 'number' ? epoch : undefined,
      onStolen: (refusal) => refuse(link, refusal),
    });
    const scope = { partition: String(log.id), group };
    if (faults.strike('unsettled', scope)) sendUnsettled(sender);
    const blocked = () => peer.connection.muted === true || faults.strike('no-events', scope) !== undefined;
    const allowed = (): boolean => {
      if (blocked()) return false;
      if (claim()) return true;
      refuse(link, claimRequired('Listen', hubName, path));
      return false;
    };
    const stop = stream(sender, peer, link, log, log.find(start), allowed);
    const unwatch = faults.watch('no-events', () => link.resume?.());
    link.allowed = () => claim() !== undefined;
    link.receives = { partition: scope.partition, group };
    link.onEnd((reason) => {
      leave();
      stop();
      unwatch();
      journal.add({ kind: 'receiver-closed', address, reason });
    });
    journal.add({ kind: 'receiver-opened', address, policy });
  };

  /** Send events from `position` on, as far as credit and socket allow, now and whenever there is more of either. */
  const stream = (
    sender: Sender,
    peer: Peer,
    link: Link,
    log: PartitionLog,
    start: number,
    allowed: () => boolean,
  ): (() => void) => {
    const metric = [sender.desired_capabilities].flat().includes(metricName);
    let position = start;
    const credit = creditOf(sender);
    let running = true;

    const pump = (): void => {
      const { socket } = peer;
      let room = socketBacklog - socket.writableLength - peer.unwritten;
      if (!running || position >= log.next()) return;
      if (room <= 0) {
        if (peer.unwritten > 0) later(); // otherwise the socket's 'drain' calls again
        return;
      }
      if (!allowed()) return;
      position = Math.max(position, log.first());
      socket.cork();
      process.nextTick(() => socket.uncork()); // after rhea has written the frames of this turn
      if (peer.unwritten === 0)
        setImmediate(() => {
          peer.unwritten = 0;
        });
      for (; room > 0 && credit.left() > 0; position += 1) {
        const event = log.at(position);
        if (!event) break;
        credit.use();
        const { settled } = sender.send(metric ? withMetric(event.bytes, log) : event.bytes, undefined, 0);
        tally.delivered += 1;
        if (settled) tally.settled += 1;
        room -= event.bytes.length;
        peer.unwritten += event.bytes.length;
      }
      if (room <= 0) later();
    };

    let waiting = false;
    const later = (): void => {
      if (waiting) return;
      waiting = true;
      setImmediate(() => {
        waiting = false;
        pump();
      });
    };

    sender.on('sendable', pump);
    sender.on('sender_draining', () => {
      pump();
      sender.set_drained(true);
    });
    sender.on('settled', () => {
      tally.settled += 1;
      later();
    });
    peer.socket.on('drain', pump);
    link.resume = pump;
    link.rewind = (events) => {
      const back = Math.min(events, position - log.first());
      position -= back;
      pump();
      return back;
    };
    const unwatch = log.watch(pump);
    return () => {
      running = false;
      unwatch();
      peer.socket.off('drain', pump);
    };
  };

  // delivery annotations come first in a message, but for its header, so they can be set before the bytes that are there already
  const withMetric = (bytes: Buffer, log: PartitionLog): Buffer => {
    const last = log.last();
    const section = rhea.message.encode({
      delivery_annotations: {
        last_enqueued_sequence_number: wrap_long(numbering.sequenceNumber(log.next() - 1)),
        last_enqueued_offset: numbering.offset(last?.offset ?? -1),
        last_enqueued_time_utc: wrap_timestamp(last?.enqueuedTime ?? 0),
        runtime_info_retrieval_time_utc: wrap_timestamp(now()),
      },
      body: noBody,
    });
    const header = bytes[2] === codes.header ? (headOf(bytes)?.get(codes.header)?.length ?? 0) : 0;
    return Buffer.concat([bytes.subarray(0, header), section, bytes.subarray(header)]);
  };

  return { serve: open };
}

const noBody = { collect_sections: () => undefined };

/** A receiver may not start behind the last event, not even to wait there. */
function refuseBeyondEnd(start: StartPosition, log: PartitionLog): void {
  if (start.by !== 'offset' && start.by !== 'sequenceNumber') return;
  const last = log.last()?.[start.by] ?? (start.by === 'offset' ? -1 : log.next() - 1);
  if (start.value <= last) return;
  throw beyondEnd(start.by === 'offset' ? 'offset' : 'sequence number', start.value, last);
}

/** The contrary of `reading.before-oldest`. */
function refuseBeforeOldest(start: StartPosition, log: PartitionLog): void {
  if (start.by === 'sequenceNumber' && start.value + (start.inclusive ? 0 : 1) < log.first())
    throw beforeOldest(start.value, log.first());
}

function raise(refusal: Error): never {
  throw refusal;
}
