import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Devicebound } from '../cloudToDevice/deviceQueues.ts';
import type { PartitionLog } from '../events/partitionLog.ts';
import type { Faults } from '../faults/faults.ts';
import { faultKinds } from '../faults/kinds.ts';
import type { Addresses } from '../identity/addresses.ts';
import type { CaCertificates } from '../identity/caCertificates.ts';
import type { Policies } from '../identity/policies.ts';
import type { Device, Registry } from '../identity/registry.ts';
import type { Journal } from '../journal/journal.ts';
import { parseQuery, readJournal } from '../journal/read.ts';
import { streamJournal } from '../journal/stream.ts';
import type { Connection } from '../network/connections.ts';
import type { Twins } from '../twins/twins.ts';
import { Refusal } from '../values/refusal.ts';
import { readMessage } from './newMessage.ts';
import type { OperationId } from './operations.ts';
import { faultQuery, newCertificate, newDevice, proofOfPossession, whichKey } from './schemas.ts';

/** What the admin port shows and changes. */
export interface AdminHub {
  /** Host, ports and so on: the answer to GET /. */
  describe: () => Record<string, unknown>;
  registry: Registry;
  certificates: CaCertificates;
  devicebound: Devicebound;
  twins: Twins;
  journal: Journal;
  partitions: () => readonly PartitionLog[];
  faults: Faults;
  counters: () => object;
  isConnected: (deviceId: string) => boolean;
  connections: () => readonly Connection[];
  addresses: Addresses;
  renewKey: Policies['renewKey'];
  /** By which clients call the port. */
  hostNames: readonly string[];
  /** What requests have to bring, if other machines can reach the port. */
  token: string | undefined;
  /** How long the headers of a request may take. */
  headersMs: number;
  /** Ends what is streamed. */
  closing: AbortSignal;
}

interface Call {
  /** The id in the path, decoded. */
  id: string;
  query: URLSearchParams;
  body: unknown;
  request: IncomingMessage;
  response: ServerResponse;
}

type HandlerResult = { status: number; body?: unknown } | 'written';

const malformed = (sentence: string) => new Refusal('com.microsoft:argument-error', sentence);
const ok = (body: unknown): HandlerResult => ({ status: 200, body });

/** What each operation does. */
export function createHandlers(
  hub: AdminHub,
): Readonly<Record<OperationId, (call: Call) => HandlerResult | Promise<HandlerResult>>> {
  const { registry, certificates, devicebound, twins, journal, faults, closing } = hub;

  const show = ({ deviceId, generationId, createdAt }: Device) => {
    const pending = devicebound.pending(deviceId).length;
    return { deviceId, generationId, createdAt, connected: hub.isConnected(deviceId), pending };
  };
  const showWhole = (device: Device) => ({
    ...show(device),
    ...(device.authentication.type === 'sas' && { primaryKey: device.primaryKey }),
    connectionString: hub.addresses.deviceConnectionString(device.deviceId),
  });

  return {
    describe: () => ok(hub.describe()),
    listDevices: () => ok({ devices: registry.list().map(show) }),
    addDevice({ body }) {
      const parsed = newDevice.safeParse(body);
      if (!parsed.success)
        throw malformed(
          'The body is {"deviceId": text, "primaryKey": base64 text or none, "authentication": {"type": "sas", "selfSigned" or "certificateAuthority", …} or none}.',
        );
      const { deviceId, ...settings } = parsed.data;
      return { status: 201, body: showWhole(registry.create(deviceId, settings)) };
    },
    showDevice({ id }) {
      const device = registry.get(id);
      if (!device) throw new Refusal('amqp:not-found', 'There is no device of this id.');
      return ok(showWhole(device));
    },
    removeDevice({ id }) {
      if (!registry.delete(id)) throw new Refusal('amqp:not-found', 'There is no device of this id.');
      return { status: 204 };
    },
    showTwin: ({ id }) => ok(twins.get(id)),
    listQueue({ id }) {
      if (!registry.get(id)) throw new Refusal('amqp:not-found', 'There is no device of this id.');
      const messages = devicebound.pending(id).map(({ system, properties, body }) => {
        return { system, properties, bytes: body.length };
      });
      return ok({ messages });
    },
    sendMessage({ id, body }) {
      const message = readMessage(body);
      devicebound.enqueue(id, message, 'admin port'); // H13
      return { status: 201, body: { messageId: message.system.messageId, pending: devicebound.pending(id).length } };
    },
    listConnections: () => ok({ connections: hub.connections().map(describeConnection) }),
    listCertificates: () => ok({ certificates: certificates.list() }),
    addCertificate({ body }) {
      const parsed = newCertificate.safeParse(body);
      if (!parsed.success)
        throw malformed('The body is {"name": text, "certificate": PEM, "isVerified": true, false or none}.');
      const { name, certificate, isVerified } = parsed.data;
      return { status: 201, body: certificates.add(name, certificate, isVerified) };
    },
    generateVerificationCode: ({ id }) => ok({ verificationCode: certificates.generateVerificationCode(id) }),
    verifyCertificate({ id, body }) {
      const parsed = proofOfPossession.safeParse(body);
      if (!parsed.success) throw malformed('The body is {"certificate": PEM}.');
      return ok(certificates.verify(id, parsed.data.certificate));
    },
    removeCertificate({ id }) {
      if (!certificates.remove(id)) throw new Refusal('amqp:not-found', 'There is no CA certificate of this name.');
      return { status: 204 };
    },
    async renewKey({ id: policy, body }) {
      const parsed = whichKey.safeParse(body);
      if (!parsed.success) throw malformed('The body is {"key": "primaryKey" or "secondaryKey"}.');
      const { key } = parsed.data;
      await hub.renewKey(policy, key);
      const { connectionString, eventHubConnectionString } = hub.addresses;
      return ok({
        ...{ policy, key, connectionString: connectionString(policy, key) },
        eventsConnectionString: eventHubConnectionString(policy, key),
      });
    },
    readJournal: ({ query }) => ok(readJournal(journal, parseQuery(query, malformed))),
    streamJournal({ query, request, response }) {
      streamJournal(journal, parseQuery(query, malformed), { request, response, closing });
      return 'written';
    },
    listPartitions: () => ok({ partitions: hub.partitions().map(describePartition) }),
    count: () => ok(hub.counters()),
    listFaults: () => ok({ faults: faults.list() }),
    listFaultKinds: () => ok({ kinds: faultKinds() }),
    async addFault({ query, body }) {
      const parsed = faultQuery.safeParse(Object.fromEntries(query));
      if (!parsed.success) throw malformed('seconds is a whole number from 1 to 86400.');
      const answer = await faults.ask(body, parsed.data.seconds);
      return { status: 'id' in answer ? 201 : 200, body: answer };
    },
    clearFaults: () => ok({ ended: faults.clear() }),
    clearFault({ id }) {
      if (faults.clear(id) === 0) throw new Refusal('amqp:not-found', 'No fault of this id stands.');
      return { status: 204 };
    },
  };
}

function describeConnection(connection: Connection): Record<string, unknown> {
  const { id, protocol, kind, deviceId, client, since, links } = connection;
  return {
    ...{ id, protocol, kind, deviceId, client, since: new Date(since).toISOString() },
    links: [...links].map(({ name, address, direction, credit, transfers }) => ({
      name,
      address,
      direction,
      credit: credit(),
      transfers: transfers(),
    })),
  };
}

function describePartition(log: PartitionLog): Record<string, unknown> {
  const last = log.last();
  return {
    id: String(log.id),
    firstSequenceNumber: log.first(),
    nextSequenceNumber: log.next(),
    ...(last ? { lastOffset: String(last.offset), lastEnqueuedTime: new Date(last.enqueuedTime).toISOString() } : {}),
  };
}
