import type { HubCore } from '../core/core.ts';
import type { EventHub } from '../events/regions.ts';
import type { Right } from '../identity/policies.ts';
import type { HubPorts } from '../network/hubPorts.ts';
import type { Directory } from './amqpServer.ts';
import { cbsNode } from './cbs.ts';
import { consumerNode } from './consumer.ts';
import { deviceNode, isDevicePath } from './device/node.ts';
import type { Node } from './link/peer.ts';
import { type ManagedEventHub, managementNode } from './management.ts';
import { createOwners } from './owners.ts';
import { producerNode } from './producer.ts';
import { isOwnEventsPath, redirectNode } from './redirect.ts';
import { isServiceboundPath, serviceboundNode } from './servicebound.ts';
import { deviceboundNode } from './serviceSender.ts';

/**
 * The AMQP nodes of a hub, the same on every port.
 * @param hostName to which clients are redirected
 */
export function createDirectory(hub: HubCore, hostName: string, ports: Readonly<HubPorts>): Directory {
  const { createdAt, access, regions, routed, faults, numbering, otherwise, now } = hub;
  const cbs = cbsNode(access, faults, now);
  const builtIn = regions.all.map((each) =>
    eventNodes(hub, { ...each, rights: { listen: 'listen', send: 'send' }, keepsStamps: false }),
  );
  const behind = routed
    ? [eventNodes(hub, { ...routed, rights: { listen: 'routedListen', send: 'routedSend' }, keepsStamps: true })]
    : [];
  const isOpen = ({ managed }: EventNodes) =>
    behind.some((each) => each.managed === managed) || regions.isOpen(managed.name);
  const open = () => [...builtIn, ...behind].filter(isOpen);
  const eventHubs = () => open().map(({ managed }) => managed);
  const management = managementNode({
    eventHubs,
    createdAt: new Date(createdAt),
    access,
    faults,
    numbering,
    otherwise,
    now,
  });
  const redirect = redirectNode(() => regions.active().name, hostName, ports);
  const devices = deviceNode(hub);
  const toServices = serviceboundNode(hub);
  const toDevices = deviceboundNode(hub);

  return (path, direction) => {
    if (path === '$cbs') return cbs;
    if (isOwnEventsPath(path)) return redirect;
    if (path.endsWith('$management')) return management;
    if (isDevicePath(path)) return devices;
    if (isServiceboundPath(path)) return toServices;
    if (direction === 'accept' && /^messages\/devicebound$/i.test(path)) return toDevices;
    const name = path.split('/', 1)[0]?.toLowerCase();
    const found = open().find(({ managed }) => managed.name.toLowerCase() === name);
    if (!found) return undefined;
    return direction === 'serve' ? found.consumer : found.producer;
  };
}

interface EventNodes {
  readonly managed: ManagedEventHub;
  readonly consumer: Node;
  readonly producer: Node;
}

/** The nodes of the built-in event endpoint, or of the event hub that a route leads to. */
function eventNodes(
  { consumerGroups, journal, faults, idle, deliveryCounters: counters, otherwise, numbering, now }: HubCore,
  own: EventHub & { readonly rights: { readonly listen: Right; readonly send: Right }; readonly keepsStamps: boolean },
): EventNodes {
  const { name, events, rights, keepsStamps } = own;
  const { partitions } = events;
  const { listen: right } = rights;
  return {
    managed: { name, right, partitions },
    consumer: consumerNode({
      ...{ hubName: name, right, consumerGroups, partitions, journal, faults, counters, otherwise, numbering, now },
      owners: createOwners(otherwise),
    }),
    producer: producerNode({ hubName: name, right: rights.send, keepsStamps, events, faults, idle }),
  };
}
