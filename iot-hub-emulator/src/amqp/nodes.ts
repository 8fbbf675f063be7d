import type { HubCore } from '../core/core.ts';
import type { HubPorts } from '../network/hubPorts.ts';
import type { Directory } from './amqpServer.ts';
import { cbsNode } from './cbs.ts';
import { consumerNode } from './consumer.ts';
import { deviceNode, isDeviceAddress } from './device/node.ts';
import { managementNode } from './management.ts';
import { createOwners } from './owners.ts';
import { producerNode } from './producer.ts';
import { isOwnEventsAddress, redirectNode } from './redirect.ts';
import { isServiceboundAddress, serviceboundNode } from './servicebound.ts';
import { deviceboundNode } from './serviceSender.ts';

/** The AMQP nodes of a hub, the same on every port. */
export function createDirectory(hub: HubCore, ports: Readonly<HubPorts>): Directory {
  const { name, createdAt, consumerGroups, access, events, journal, faults, idle, deliveryCounters: tally, now } = hub;
  const { partitions } = events;
  const cbs = cbsNode(access, faults, now);
  const management = managementNode({ name, createdAt: new Date(createdAt), partitions, access, faults });
  const consumer = consumerNode({
    hubName: name,
    consumerGroups,
    partitions,
    owners: createOwners(),
    journal,
    faults,
    counters: tally,
    now,
  });
  const producer = producerNode({ hubName: name, events, faults, idle });
  const redirect = redirectNode(name, ports);
  const devices = deviceNode(hub);
  const toServices = serviceboundNode(hub);
  const toDevices = deviceboundNode(hub);

  return (address, direction) => {
    if (address === '$cbs') return cbs;
    if (isOwnEventsAddress(address)) return redirect;
    if (address.endsWith('$management')) return management;
    if (isDeviceAddress(address)) return devices;
    if (isServiceboundAddress(address)) return toServices;
    if (direction === 'serve') return consumer;
    return /^\/?messages\/devicebound$/i.test(address) ? toDevices : producer;
  };
}
