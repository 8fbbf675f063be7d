import type { EventHub, HubCore } from '../core/core.ts';
import type { Right } from '../identity/policies.ts';
import type { HubPorts } from '../network/hubPorts.ts';
import type { Directory } from './amqpServer.ts';
import { cbsNode } from './cbs.ts';
import { consumerNode } from './consumer.ts';
import { deviceNode, isDeviceAddress } from './device/node.ts';
import type { Node } from './link/peer.ts';
import { type ManagedEventHub, managementNode } from './management.ts';
import { createOwners } from './owners.ts';
import { producerNode } from './producer.ts';
import { isOwnEventsAddress, redirectNode } from './redirect.ts';
import { isServiceboundAddress, serviceboundNode } from './servicebound.ts';
import { deviceboundNode } from './serviceSender.ts';

/** The AMQP nodes of a hub, the same on every port. */
export function createDirectory(hub: HubCore, ports: Readonly<HubPorts>): Directory {
  const { name, createdAt, access, events, routed, faults, now } = hub;
  const cbs = cbsNode(access, faults, now);
  const builtIn = eventNodes(hub, { name, events, rights: { listen: 'listen', send: 'send' }, keepsStamps: false });
  const behind =
    routed && eventNodes(hub, { ...routed, rights: { listen: 'routedListen', send: 'routedSend' }, keepsStamps: true });
  const managed = [builtIn, ...(behind ? [behind] : [])].map((each) => each.managed);
  const management = managementNode({ eventHubs: managed, createdAt: new Date(createdAt), access, faults });
  const isBehind = (address: string) => address.split('/', 1)[0]?.toLowerCase() === routed?.name.toLowerCase();
  const redirect = redirectNode(name, ports);
  const devices = deviceNode(hub);
  const toServices = serviceboundNode(hub);
  const toDevices = deviceboundNode(hub);

  return (address, direction) => {
    if (address === '$cbs') return cbs;
    if (isOwnEventsAddress(address)) return redirect;
    const { consumer, producer } = behind && isBehind(address) ? behind : builtIn;
    if (address.endsWith('$management')) return management;
    if (isDeviceAddress(address)) return devices;
    if (isServiceboundAddress(address)) return toServices;
    if (direction === 'serve') return consumer;
    return /^\/?messages\/devicebound$/i.test(address) ? toDevices : producer;
  };
}

/** The nodes of the built-in event endpoint, or of the event hub that a route leads to. */
function eventNodes(
  { consumerGroups, journal, faults, idle, deliveryCounters: counters, now }: HubCore,
  own: EventHub & { readonly rights: { readonly listen: Right; readonly send: Right }; readonly keepsStamps: boolean },
): { readonly managed: ManagedEventHub; readonly consumer: Node; readonly producer: Node } {
  const { name, events, rights, keepsStamps } = own;
  const { partitions } = events;
  const { listen: right } = rights;
  return {
    managed: { name, right, partitions },
    consumer: consumerNode({
      ...{ hubName: name, right, consumerGroups, partitions, journal, faults, counters, now },
      owners: createOwners(),
    }),
    producer: producerNode({ hubName: name, right: rights.send, keepsStamps, events, faults, idle }),
  };
}
