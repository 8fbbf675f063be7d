import { createRandom, type Random } from '../chaos/random.ts';
import { type Account, createAccount } from './account.ts';
import { type Cluster, createCluster } from './cluster.ts';
import { createHub, type Hub } from './hub.ts';
import type { Costs } from './instance.ts';
import { beginVirtualTime, type VirtualTime } from './virtualTime.ts';
import { createWorkRecord, type WorkRecord } from './work.ts';

/** A hub, a storage account, devices that send, and instances that come and go. */
export interface World {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly hub: Hub;
  readonly account: Account;
  readonly cluster: Cluster;
  readonly record: WorkRecord;
  readonly partitions: readonly string[];
  /** How many times the usual number of messages the devices send; 0: none. */
  load: number;
  send(partition: string, device: string): void;
  /** Every partition has a reader, and no instance reads two more than another. */
  isBalanced(): boolean;
  end(): void;
}

export interface Surrounding {
  /** Sends a minute that the hub allows; without limit when omitted. */
  readonly repliesAMinute?: number;
  readonly clockDifferenceMs?: number;
  /** How long a request to the storage takes, in milliseconds. */
  readonly storageMs?: number;
}

/** Messages of ours that devices send to a partition in a second. */
export const messagesPerSecond = 4;
const devicesOfPartition = 8;

/** One instance is at 60 % with the messages of all 32 partitions: it works 4.7 ms for each of 128 a second. */
const costs: Costs = { workMs: 4.7, callMs: 20, isAnswered: true };

export function createWorld(
  seed: number,
  partitionCount: number,
  { repliesAMinute, clockDifferenceMs = 0, storageMs }: Surrounding,
): World {
  const random = createRandom(seed);
  const time = beginVirtualTime(random.next);
  const partitions = Array.from({ length: partitionCount }, (_, index) => String(index));
  const replyLimits = repliesAMinute === undefined ? {} : { c2d: { count: repliesAMinute, perMs: 60_000 } };
  const networkMs = () => 4 + 8 * random.next();
  const hub = createHub({ time, partitions, networkMs, replyLimits });
  const account = createAccount(time, clockDifferenceMs / 3);
  if (storageMs !== undefined) account.takesMs = storageMs;
  const record = createWorkRecord(time, partitions);
  const surroundings = { time, hub, account, record, costs };
  const cluster = createCluster({ surroundings, random, clockDifferenceMs });

  const world: World = {
    ...{ time, random, hub, account, cluster, record, partitions, load: 1 },
    send(partition, device) {
      record.sent(partition);
      hub.append(partition, device);
    },
    isBalanced() {
      const shares = new Map(cluster.running().map(({ process }) => [process.name, 0]));
      for (const partition of partitions) {
        const reader = hub.readerOf(partition);
        if (reader === undefined) return false;
        shares.set(reader.name, (shares.get(reader.name) ?? 0) + 1);
      }
      return Math.max(...shares.values()) - Math.min(...shares.values()) <= 1;
    },
    end() {
      cluster.end();
      hub.end();
      time.end();
    },
  };

  function sendSome(partition: string) {
    for (let count = 0; count < world.load; count += 1) {
      world.send(partition, `${partition}-${random.between(1, devicesOfPartition)}`);
    }
  }

  for (const partition of partitions) {
    const begin = () => void setInterval(sendSome, 1000 / messagesPerSecond, partition);
    setTimeout(begin, random.between(1, 1000));
  }
  return world;
}
