import { away, doubt, type Found, fault } from '@device-messaging/telemetry/check.ts';
import { isSecret } from '../access/secretFiles.ts';
import type { BackendName } from '../backends/backends.ts';
import { TransportFailure } from '../backends/transport.ts';
import { sendRefusalOf } from '../hub/replies/sendFailure.ts';
import {
  diagnoseLookUp,
  diagnoseMethods,
  diagnoseReading,
  diagnoseService,
  isLasting,
} from '../observing/diagnosis.ts';
import { type StoreLocation, storeFailureOf } from '../observing/storeFailure.ts';
import { backendNames } from '../protocol/vocabulary.ts';
import type { MethodsSettings, Settings } from '../settings/config.ts';
import { invocationLimits, mostBodies } from '../settings/constants.ts';
import { placeOf } from '../settings/derived.ts';
import { createFileStorage } from '../stores/methodFiles.ts';
import { disk, memory, methodsMemory, openFiles, orFewerConnections, serviceMemory } from './machineProbes.ts';
import { type AnySettings, answerMs, failed, type Openers, type Probe, unanswered, urlOf } from './openers.ts';

/** `Date` has whole seconds, and an answer takes time. */
const noiseMs = 2_000;
/** Owners of partitions are told apart by times (D15). */
const doubtfulMs = 5_000;
/** A signature of the storage is refused when it is older than a quarter of an hour, and one of the hub's tokens earlier. */
const wrongMs = 5 * 60_000;

/** A clock that differs from ours while others agree with ours is wrong itself. */
const clock: Probe<AnySettings> = {
  name: 'clock',
  async attempt(open) {
    const readings = await open.times();
    const [nearest] = readings.toSorted((a, b) => Math.abs(a.aheadMs) - Math.abs(b.aheadMs));
    if (nearest === undefined)
      return doubt('nobody tells the time', 'compare the clock of this machine with another one');
    const seconds = (aheadMs: number) => `${Math.round(Math.abs(aheadMs) / 1000)} s`;
    if (Math.abs(nearest.aheadMs) > doubtfulMs) {
      const side = nearest.aheadMs > 0 ? 'behind' : 'ahead of';
      const found = `this machine is ${seconds(nearest.aheadMs)} ${side} all ${readings.length} that tell the time`;
      const mark = Math.abs(nearest.aheadMs) > wrongMs ? fault : doubt;
      return mark(found, 'synchronise the clock of this machine (NTP)');
    }
    const strays = readings.filter(({ aheadMs }) => Math.abs(aheadMs) > doubtfulMs + noiseMs);
    if (strays.length === 0) return `agrees with ${readings.map(({ name }) => name).join(', ')}`;
    return strays.map(({ name, aheadMs }) => {
      const side = aheadMs > 0 ? 'ahead of' : 'behind';
      const found = `the ${name} is ${seconds(aheadMs)} ${side} this machine, with which the ${nearest.name} agrees`;
      return doubt(found, 'its clock is wrong: tell who runs it');
    });
  },
};

/** Credentials, partitions, what the hub keeps, and how far the checkpoints are behind. The consumer group shows only when it is read. */
const reading: Probe<Settings> = {
  name: 'event endpoint',
  async attempt(open, settings) {
    const place = await open.eventsOf(settings, open.access.events()).catch(diagnoseLookUp);
    if ('todo' in place) return failed(`the hub does not name its event endpoint: ${place.hubSaid}`, place);
    const { at, way, where, told } = place;
    const { consumerGroup } = at.hub;
    const asked = open.readExtents(way, consumerGroup);
    const extents = await asked.catch((error) => told(diagnoseReading(error, 'looking')));
    if ('todo' in extents) return failed(where + extents.hubSaid, extents);
    const kept = extents.filter(({ isEmpty }) => !isEmpty);
    const count = sum(kept.map((one) => one.lastEnqueuedSequenceNumber - one.beginningSequenceNumber + 1));
    const newest = Math.max(...kept.map(({ lastEnqueuedOnUtc }) => lastEnqueuedOnUtc.getTime()));
    const age = kept.length === 0 ? '' : `, the newest ${ageOf(Date.now() - newest)} old`;
    const found = `${where}${extents.length} partitions with ${count} events${age}; whether it has the consumer group ${consumerGroup} shows when the service reads`;
    const lag = await open.storedPositions(at).then(
      (positions) => lagOf(extents, positions, at.hub),
      (error) => away(`cannot be read: ${error.message}`, 'the check of the store says more'),
    );
    return [found, { ...(typeof lag === 'string' ? { mark: 'ok', found: lag } : lag), what: 'checkpoints' }];
  },
};

function lagOf(
  extents: Awaited<ReturnType<Openers['readExtents']>>,
  positions: ReadonlyMap<string, number>,
  { startPosition }: Pick<Settings['hub'], 'startPosition'>,
): string | Found {
  const known = extents.flatMap(
    ({ partitionId: id, beginningSequenceNumber: first, lastEnqueuedSequenceNumber: last, isEmpty }) => {
      const at = positions.get(id);
      return at === undefined ? [] : [{ id, lost: isEmpty ? 0 : Math.max(0, first - at - 1), behind: last - at }];
    },
  );
  const partitions = (some: typeof known) => `partition ${some.map(({ id }) => id).join(', ')}`;
  const begins = startPosition === 'latest' ? 'with what comes from now on' : 'with the oldest event';
  if (known.length === 0) return `none yet: the service begins ${begins} (HUB_START_POSITION=${startPosition})`;
  const foreign = known.filter(({ behind }) => behind < 0);
  if (foreign.length > 0) {
    const todo = 'check again in some minutes: if it stays, they are of another hub (docs/operations.md)';
    return doubt(`beyond the end of ${partitions(foreign)}`, todo);
  }
  const lossy = known.filter(({ lost }) => lost > 0);
  const lost = sum(lossy.map(({ lost }) => lost));
  const todo = 'they are lost: keep events longer at the hub, and mind the alert Behind';
  if (lost > 0) return doubt(`the hub has deleted ${lost} events that were not handled, of ${partitions(lossy)}`, todo);
  const without = extents.length - known.length;
  const rest = without === 0 ? '' : `, ${without} partitions have none`;
  return `${sum(known.map(({ behind }) => behind))} events behind the end of ${known.length} partitions${rest}`;
}

const sum = (numbers: readonly number[]) => numbers.reduce((one, other) => one + other, 0);

function ageOf(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const units = Object.entries({ d: 86_400, h: 3_600, min: 60 });
  const [unit, size] = units.find(([, size]) => seconds >= 2 * size) ?? ['s', 1];
  return `${Math.floor(seconds / size)} ${unit}`;
}

const sending: Probe<Settings> = {
  name: 'service endpoint',
  async attempt(open) {
    const access = open.access.service();
    const error = await open.sendToNobody(access).catch((error: Error) => error);
    if (!(error instanceof Error)) return 'may send to devices: the hub has taken a message';
    const { kind, reason } = sendRefusalOf(error);
    const diagnosis = diagnoseService(error, !isSecret(access));
    if (kind === 'connection') return failed(diagnosis.hubSaid, { ...diagnosis, isAnswer: isRefusal(error) });
    if (reason === 'unknown_device') return 'may send to devices: the hub has no such device as was asked for';
    const todo = 'devices get no answers meanwhile: see how many replies the hub takes, docs/operations.md';
    return doubt(`the hub refuses messages for now: ${reason}`, todo);
  },
};

/** By the client's name for it, or the code, also of the error that it wraps. */
const isRefusal = (error: NodeJS.ErrnoException & { readonly amqpError?: NodeJS.ErrnoException }): boolean =>
  [error, error.amqpError].some(
    (one) => /Unauthorized|NotFound/.test(one?.constructor.name ?? '') || isLasting(one?.code ?? ''),
  );

const invoking: Probe<MethodsSettings> = {
  name: 'service endpoint',
  async attempt(open) {
    const access = open.access.service();
    const result = await open.invokeAtNobody(access);
    if (result.kind === 'response') return 'may invoke methods';
    const { failure: reason, status, code, cause, said: words } = result;
    if (reason === 'device_unknown' || reason === 'device_offline')
      return 'may invoke methods: the hub has no such device as was asked for';
    const said = words ?? ([status, code].filter((one) => one !== undefined).join(' ') || 'no answer');
    const isAnswer = reason === 'refused';
    const found = isAnswer ? `the hub refuses access: ${said}` : said;
    return failed(found, { ...diagnoseMethods(result, isSecret(access)), isAnswer, cause });
  },
};

/** The rights that a container needs, and what its account must not have: that each checkpoint leaves a version behind. */
const container = (name: string, of: 'checkpoints' | 'deadLetters'): Probe<Settings> => ({
  name,
  applies: ({ store }) => store.kind !== 'file',
  async attempt(open, { [of]: own, store }) {
    const isOfCheckpoints = of === 'checkpoints';
    const place = placeOf(own, store, isOfCheckpoints ? 'CHECKPOINTS' : 'DEAD_LETTERS');
    const asked = open.tryContainer(name, open.access.account(of), own.container);
    const seen = await asked.catch((error) => failedStore(error, place));
    if ('found' in seen) return seen;
    const { isConditional, notDeleted, path, keepsVersions, isHierarchical } = seen;
    const azure = 'use an account of Azure Blob Storage: several instances need these conditions';
    if (!isConditional) return fault('writes whose condition does not hold are taken', azure);
    // Checkpoints need no right to delete.
    if (notDeleted && !(isOfCheckpoints && notDeleted.status === 403)) return failedStore(notDeleted, place);
    const end = notDeleted ? `and read; may not delete, so ${path} stays` : 'read and deleted';
    const well = `a blob was created, written under conditions, listed, ${end} in ${own.container}`;
    const doubts = [
      ...(keepsVersions ? ['keeps versions: each checkpoint leaves one behind, which costs money'] : []),
      ...(isHierarchical ? ['has a hierarchical namespace: checkpoints are slower there'] : []),
    ];
    const advice = 'keep checkpoints in an account without it (CHECKPOINTS_CONNECTION_STRING)';
    return [well, ...(isOfCheckpoints ? doubts.map((one) => doubt(`the account ${one}`, advice)) : [])];
  },
});

/** The container of files for methods: the front door looks a file up and signs for it. */
const files: Probe<MethodsSettings> = {
  name: 'files',
  applies: ({ files }) => files.container !== '',
  async attempt({ access }, { files, store }) {
    const storage = createFileStorage({ account: access.account('files'), ...files });
    const result = await storage.sign('check/none', 60, AbortSignal.timeout(answerMs));
    return result.kind === 'unavailable'
      ? failedStore(result.error, placeOf(files, { ...store, kind: 'blob' }, 'METHODS_FILES'))
      : `the container ${files.container} answers, and its files can be signed for`;
  },
};

function failedStore(error: unknown, place: StoreLocation) {
  const told = storeFailureOf(error, place);
  if (told === undefined) throw error;
  const { message, diagnosis } = told;
  const { storeSaid: cause } = diagnosis;
  const isAnswer = told.fault === 'refused';
  return failed(message.replace(/ failed: .*/, `: ${cause}`), { ...diagnosis, isAnswer, cause });
}

const tokenEndpoint: Probe<AnySettings> = {
  name: backendNames.tokenEndpoint,
  applies: ({ backends }) => backends.tokenUrl !== '',
  async attempt(open) {
    const { token, cause } = await open.token();
    if (token !== undefined) return 'gives a token';
    const isRefusal = /answered with HTTP 4(?!08|29)\d\d|unreadable/.test(cause);
    const todo =
      'compare BACKENDS_TOKEN_URL, BACKENDS_CLIENT_ID, BACKENDS_CLIENT_SECRET and BACKENDS_TOKEN_SCOPE with what you were given';
    return isRefusal ? fault(cause, todo) : unanswered(cause, 'BACKENDS_TOKEN_URL');
  },
};

const backend = (name: BackendName, setting: string): Probe<AnySettings> => ({
  name: backendNames[name],
  async attempt(open, { backends }) {
    const credential = open.access.backend(name);
    const { token, cause } = await open.token(credential);
    if (token === undefined && credential) return fault(cause, 'repair the identity, or its scope (docs/identity.md)');
    if (token === undefined) return []; // the line of the token endpoint says why
    const answer = await open.ask(name, urlOf(backends, name), token);
    if (answer instanceof TransportFailure) return unanswered(answer.message, setting);
    const { status } = answer;
    const said = `HTTP ${status} (${setting})`;
    if (status === 200) return `answers, and accepts the token (HTTP ${status})`;
    // The answer to the question for a device that does not exist, by the contracts.
    if (status === 403) return `answers, and refuses a device that there is not (HTTP ${status})`;
    const client = backends.tokenUrl === '' ? 'BACKENDS_TOKEN' : 'the client of BACKENDS_CLIENT_ID';
    const accept = `have it accept ${credential ? 'the identity' : client}, or use one that it accepts`;
    if (status === 401) return fault(`refuses the token: ${said}`, accept);
    if (status >= 500 || status === 429) return away(said, 'wait until it is back');
    const todo = `compare ${setting} with its base URL, and the rights of the token`;
    return doubt(`answers ${said} to a harmless question`, todo);
  },
});

const backends = [backend('informationModel', 'INFORMATION_MODEL_URL'), backend('typeRegistry', 'TYPE_REGISTRY_URL')];

export const serviceProbes: readonly Probe<Settings>[] = [
  ...[clock, reading, sending],
  ...[container('checkpoint container', 'checkpoints'), container('dead-letter container', 'deadLetters')],
  ...[tokenEndpoint, ...backends, backend('principalManager', 'PRINCIPAL_MANAGER_URL')],
  ...[disk, memory(serviceMemory, 'lower DELIVERY_MAX_BYTES'), openFiles(3, 0)],
];

export const methodsProbes: readonly Probe<MethodsSettings>[] = [
  ...[clock, invoking, files, tokenEndpoint, ...backends],
  ...[memory(methodsMemory, orFewerConnections), openFiles(2, mostBodies.inAll + 2 * invocationLimits.inFlight)],
];
