import { randomUUID } from 'node:crypto';
import { type Finding, ok, outage, warning } from '@device-messaging/telemetry/check.ts';
import { accessOf, type EventsAccess } from '../access/access.ts';
import { isSecret } from '../access/secretFiles.ts';
import { atMost, within } from '../concurrency/waiting.ts';
import { createDirectMethods, type DirectMethodResult } from '../hub/methods/directMethods.ts';
import { openEventClient } from '../hub/reading/connection.ts';
import { findEndpoint, settingsAt } from '../hub/reading/foundEndpoint.ts';
import { createHandOver } from '../hub/replies/sendBytes.ts';
import { type SendRefusal, sendRefusalOf } from '../hub/replies/sendFailure.ts';
import { newServiceClient } from '../hub/serviceSdk.ts';
import {
  diagnoseLookUp,
  diagnoseMethods,
  diagnoseService,
  diagnosisOf,
  isLasting,
  ofHub,
  ofIdentity,
  ofLookedUp,
  type ReadingDiagnosis,
} from '../observing/diagnosis.ts';
import type { MethodsSettings, Settings } from '../settings/config.ts';
import { hubLoginOf, hubNameOf, isLookedUp } from '../settings/derived.ts';
import { directoriesOf } from '../stores/directories.ts';
import { checkpointPath, readCheckpointFile } from '../stores/fileCheckpoints.ts';
import { hubPlaceOf, type StoreSettings } from '../stores/open.ts';
import { failed } from './failed.ts';

const [events, service, checkpoints] = ['event endpoint', 'service endpoint', 'checkpoints'];
const answerMs = 15_000;
const closesWithinMs = 1_000;

/** The answer to what was asked with a client, which is then closed. */
async function answered<T>(client: { close(): Promise<unknown> }, asked: Promise<T>): Promise<T> {
  try {
    return await within(asked, answerMs);
  } finally {
    await within(client.close(), closesWithinMs).catch(() => undefined);
  }
}

/**
 * Credentials, partitions, what the hub keeps, and how far the checkpoints are behind. The consumer group shows only when it
 * is read, which no check may do.
 */
export async function checkEvents(settings: StoreSettings): Promise<Finding[]> {
  const { hub } = settings;
  const access = accessOf(settings).events();
  if (!isLookedUp(hub)) return checkEndpoint(settings, access, isSecret(access) ? (found) => found : ofIdentity);
  const found = await findEndpoint(hub.serviceConnectionString, answerMs).catch(diagnoseLookUp);
  if ('todo' in found) return [failed(events, `the hub does not name its event endpoint: ${found.hubSaid}`, found)];
  const told = ofLookedUp(hubNameOf(hubLoginOf(hub.serviceConnectionString)), hub.consumerGroup);
  const at = settingsAt(settings, found);
  const where = `${found.namespace}/${found.eventHub}, named by the hub: `;
  return checkEndpoint(at, at.hub.eventsConnectionString, told, where);
}

/** @param where told before what is found there */
async function checkEndpoint(
  settings: StoreSettings,
  access: EventsAccess,
  told: (found: ReadingDiagnosis) => ReadingDiagnosis,
  where = '',
): Promise<Finding[]> {
  const { consumerGroup, startPosition } = settings.hub;
  try {
    const extents = await readExtents(access, consumerGroup);
    const kept = extents.filter(({ isEmpty }) => !isEmpty);
    const count = sum(kept.map((one) => one.lastEnqueuedSequenceNumber - one.beginningSequenceNumber + 1));
    const newest = Math.max(...kept.map(({ lastEnqueuedOnUtc }) => lastEnqueuedOnUtc.getTime()));
    const age = kept.length === 0 ? '' : `, the newest ${ageOf(Date.now() - newest)} old`;
    const found = `${where}${extents.length} partitions with ${count} events${age}; whether it has the consumer group ${consumerGroup} shows when the service reads`;
    const lag = await storedPositions(settings).then(
      (positions) => lagFindingOf(extents, positions, startPosition),
      (error) => outage(checkpoints, `cannot be read: ${error.message}`, 'the check of the store says more'),
    );
    return [ok(events, found), lag];
  } catch (error) {
    const diagnosis = diagnosisOf(error);
    if (diagnosis === undefined) throw error;
    return [failed(events, where + told(diagnosis).hubSaid, told(diagnosis))];
  }
}

/** The hub answers 50 such questions a second, of all clients together: the instances that run need some. */
const questions = 4;

type Extent = Awaited<ReturnType<typeof readExtents>>[number];

/**
 * Asks the hub what it keeps, through its `$management` node alone: a receiver could take a partition from its reader.
 * @throws HubFailure
 */
export function readExtents(access: EventsAccess, consumerGroup: string) {
  const client = openEventClient(access, consumerGroup, { retryOptions: { maxRetries: 0, timeoutInMs: answerMs } });
  const inTurn = atMost(questions);
  const asked = client
    .getPartitionIds()
    .then((ids) => Promise.all(ids.map((id) => inTurn(() => client.getPartitionProperties(id)))));
  return ofHub(answered(client, asked));
}

/**
 * The sequence numbers of the stored checkpoints, by partition, without opening the store: a process that opens a checkpoint
 * file takes it over. Those that cannot be understood are left out.
 */
export async function storedPositions(settings: StoreSettings): Promise<ReadonlyMap<string, number>> {
  const { hub, data, store, checkpoints } = settings;
  const { endpoint, namespace, name, consumerGroup } = hubPlaceOf(hub);
  if (store.kind === 'blob') {
    const { createBlobStore } = await import('../stores/blobCheckpoints.ts');
    const account = accessOf(settings).account('checkpoints');
    const { container } = checkpoints;
    const stored = createBlobStore({ account, container, namespace, hub: name, consumerGroup });
    return new Map(
      (await stored.checkpoints()).flatMap(({ partition, at }) => (at === undefined ? [] : [[partition, at]])),
    );
  }
  const place = [endpoint, name, consumerGroup].join(' ');
  const { progress } = readCheckpointFile(checkpointPath(directoriesOf(data).checkpoints, place), place);
  const positions = progress.map((one) => [one.partition, one.progress.sequenceNumber] as const);
  return new Map(positions.filter(([, sequenceNumber]) => Number.isSafeInteger(sequenceNumber)));
}

/** @param positions the sequence numbers of the checkpoints, by partition */
export function lagFindingOf(
  extents: readonly Omit<Extent, 'eventHubName' | 'lastEnqueuedOffset' | 'lastEnqueuedOnUtc'>[],
  positions: ReadonlyMap<string, number>,
  startPosition: Settings['hub']['startPosition'],
): Finding {
  const known = extents.flatMap(
    ({ partitionId, beginningSequenceNumber: first, lastEnqueuedSequenceNumber: last, isEmpty }) => {
      const at = positions.get(partitionId);
      return at === undefined
        ? []
        : [{ partitionId, lost: isEmpty ? 0 : Math.max(0, first - at - 1), behind: last - at }];
    },
  );
  if (known.length === 0) {
    const begins = startPosition === 'latest' ? 'with what comes from now on' : 'with the oldest event';
    return ok(checkpoints, `none yet: the service begins ${begins} (HUB_START_POSITION=${startPosition})`);
  }
  const foreign = known.filter(({ behind }) => behind < 0);
  if (foreign.length > 0)
    return warning(
      checkpoints,
      `beyond the end of partition ${partitionsOf(foreign)}`,
      'check again in some minutes: if it stays, they are of another hub (docs/troubleshooting.md)',
    );
  const lossy = known.filter(({ lost }) => lost > 0);
  if (lossy.length > 0)
    return warning(
      checkpoints,
      `the hub has deleted ${sum(lossy.map(({ lost }) => lost))} events that were not handled, of partition ${partitionsOf(lossy)}`,
      'they are lost: keep events longer at the hub, and mind the alert Behind',
    );
  const without = extents.length - known.length;
  const rest = without === 0 ? '' : `, ${without} partitions have none`;
  const behind = sum(known.map(({ behind }) => behind));
  return ok(checkpoints, `${behind} events behind the end of ${known.length} partitions${rest}`);
}

const sum = (numbers: readonly number[]) => numbers.reduce((one, other) => one + other, 0);
const partitionsOf = (some: readonly Pick<Extent, 'partitionId'>[]) =>
  some.map(({ partitionId }) => partitionId).join(', ');

/** For people. */
function ageOf(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const units = Object.entries({ d: 86_400, h: 3_600, min: 60 });
  const [unit, size] = units.find(([, size]) => seconds >= 2 * size) ?? ['s', 1];
  return `${Math.floor(seconds / size)} ${unit}`;
}

/** The right to send, with a message to a device that does not exist: the hub says so only to those who may send. */
export async function checkSending(settings: Settings): Promise<Finding[]> {
  const access = accessOf(settings).service();
  const client = newServiceClient(access);
  client.setRetryPolicy({ shouldRetry: () => false, nextRetryTimeout: () => -1 });
  client.on('disconnect', () => undefined);
  const deviceId = `check-${randomUUID()}`;
  const reply = { kind: 'notification', deviceId, messageId: deviceId, correlationId: undefined } as const;
  const send = () => createHandOver(client)({ ...reply, properties: {}, body: '{}' });
  try {
    await answered(client, client.open().then(send));
    return [sendingFindingOf(undefined)];
  } catch (error) {
    const refusal = sendRefusalOf(error as Error);
    return [refusal.kind === 'connection' ? sendingFailureOf(error, !isSecret(access)) : sendingFindingOf(refusal)];
  }
}

/** @param refusal undefined when the hub has taken the message */
export function sendingFindingOf(refusal: SendRefusal | undefined): Finding {
  if (refusal === undefined) return ok(service, 'may send to devices: the hub has taken a message');
  if (refusal.reason === 'unknown_device')
    return ok(service, 'may send to devices: the hub has no such device as was asked for');
  return warning(
    service,
    `the hub refuses messages for now: ${refusal.reason}`,
    'devices get no answers meanwhile: see how many replies the hub takes, docs/operations.md',
  );
}

/** @param isByIdentity instead of a connection string */
export function sendingFailureOf(error: unknown, isByIdentity: boolean): Finding {
  const diagnosis = diagnoseService(error, isByIdentity);
  return failed(service, diagnosis.hubSaid, { ...diagnosis, isAnswer: isRefusal(error) });
}

/** By the client's name for it, or the code, also of the error that it wraps. */
function isRefusal(error: unknown): boolean {
  const { amqpError } = error as { readonly amqpError?: unknown };
  return [error, amqpError].some((one) => {
    const { code } = (one ?? {}) as NodeJS.ErrnoException;
    return /Unauthorized|NotFound/.test(one?.constructor.name ?? '') || isLasting(String(code));
  });
}

/** The right to invoke methods, with one of a device that does not exist. */
export async function checkInvoking(settings: MethodsSettings): Promise<Finding[]> {
  const access = accessOf(settings).service();
  const methods = createDirectMethods(access);
  const device = `check-${randomUUID()}`;
  const result = await methods.invoke({ device, module: '', payload: null, timeoutSeconds: 5 });
  methods.close();
  return [invokingFindingOf(result, isSecret(access))];
}

/** @param isByKey not by an identity */
export function invokingFindingOf(result: DirectMethodResult, isByKey: boolean): Finding {
  if (result.kind === 'response') return ok(service, 'may invoke methods');
  const { failure: reason, status, code, cause, said: words } = result;
  if (reason === 'device_unknown' || reason === 'device_offline')
    return ok(service, 'may invoke methods: the hub has no such device as was asked for');
  const said = words ?? ([status, code].filter((one) => one !== undefined).join(' ') || 'no answer');
  const isAnswer = reason === 'refused';
  const found = isAnswer ? `the hub refuses access: ${said}` : said;
  return failed(service, found, { ...diagnoseMethods(result, isByKey), isAnswer, cause });
}
