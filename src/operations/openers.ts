import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { totalmem } from 'node:os';
import { away, type Found, fault, type Said } from '@device-messaging/telemetry/check.ts';
import { outboundAgent } from '@device-messaging/telemetry/outbound.ts';
import { type Access, type AccountAccess, accessOf, type EventsAccess, type ServiceAccess } from '../access/access.ts';
import type { ScopedTokens } from '../access/identity.ts';
import { isSecret } from '../access/secretFiles.ts';
import { createAttempt, maxAnswerBytes, probes as questions } from '../backends/backend.ts';
import { type BackendName, openTokens } from '../backends/backends.ts';
import { createDeadline } from '../backends/deadline.ts';
import { identityTokens, type TokenSource } from '../backends/tokens.ts';
import { createTransport } from '../backends/transport.ts';
import { atMost, lazy, within } from '../concurrency/waiting.ts';
import { createDirectMethods } from '../hub/methods/directMethods.ts';
import { openEventClient } from '../hub/reading/connection.ts';
import { findEndpoint, nameOf, settingsAt } from '../hub/reading/foundEndpoint.ts';
import { createSendBytes } from '../hub/replies/sendBytes.ts';
import { newServiceClient, noRetry } from '../hub/serviceSdk.ts';
import type { ReadingDiagnosis } from '../observing/diagnosis.ts';
import { isLasting, ofIdentity, ofLookedUp, ownLimitOf, todoOrWait } from '../observing/diagnosis.ts';
import type { Troubles } from '../observing/log.ts';
import { backendNames } from '../protocol/vocabulary.ts';
import type { MethodsSettings, Settings } from '../settings/config.ts';
import { hubLoginOf, hubNameOf, isLookedUp } from '../settings/derived.ts';
import { partOf } from '../settings/formats.ts';
import { openContainer, StorageError } from '../stores/account.ts';
import { directoriesOf } from '../stores/directories.ts';
import { checkpointPath, readCheckpointFile } from '../stores/fileCheckpoints.ts';
import { hubPlaceOf, type StoreSettings } from '../stores/open.ts';

export type AnySettings = Settings | MethodsSettings;

/** By the code of the programs themselves. Takes nothing from a program that runs (D375). */
export type Openers = ReturnType<typeof openersOf>;

export function openersOf(settings: AnySettings, access: Access = accessOf(settings)) {
  const shared = lazy(() => tokenFrom((troubles) => openTokens(settings.backends, troubles)));
  return {
    ...{ access, eventsOf, readExtents, storedPositions, sendToNobody, invokeAtNobody },
    ...{ tryContainer, ask, machineLimits },
    times: () => readTimes(settings),
    /** For the backends of one identity (D365), or for all others. */
    token: (credential?: ScopedTokens) =>
      credential ? tokenFrom((troubles) => identityTokens(credential, troubles)) : shared(),
  };
}

/** Of the hub and the storage; and of one request over HTTP, which may need a token first. */
export const answerMs = 15_000;
const requestMs = 10_000;
const closesWithinMs = 1_000;

/** The answer to what was asked with a client, which is then closed. */
async function answered<T>(client: { close(): Promise<unknown> }, asked: Promise<T>): Promise<T> {
  try {
    return await within(asked, answerMs);
  } finally {
    await within(client.close(), closesWithinMs).catch(() => undefined);
  }
}

/** Where the events are, by the settings or in the words of the hub, and what a failure there means. @throws NoEndpoint */
async function eventsOf(settings: StoreSettings, given: EventsAccess) {
  const { hub } = settings;
  const asIs = (found: ReadingDiagnosis) => found;
  if (!isLookedUp(hub)) return { at: settings, way: given, where: '', told: isSecret(given) ? asIs : ofIdentity };
  const found = await findEndpoint(hub.serviceConnectionString, answerMs);
  const at = settingsAt(settings, found);
  return {
    ...{ at, way: at.hub.eventsConnectionString, where: `${nameOf(found)}, named by the hub: ` },
    told: ofLookedUp(hubNameOf(hubLoginOf(hub.serviceConnectionString)), hub.consumerGroup),
  };
}

/** The hub answers 50 such questions a second, of all clients together: the instances that run need some. */
const questionsAtOnce = 4;

/** Asks the hub what it keeps, through its `$management` node alone: a receiver could take a partition from its reader. */
export function readExtents(access: EventsAccess, consumerGroup: string) {
  const client = openEventClient(access, consumerGroup, { retryOptions: { maxRetries: 0, timeoutInMs: answerMs } });
  const inTurn = atMost(questionsAtOnce);
  const extentsOf = (ids: readonly string[]) =>
    Promise.all(ids.map((id) => inTurn(() => client.getPartitionProperties(id))));
  return answered(client, client.getPartitionIds().then(extentsOf));
}

/** The sequence numbers of the stored checkpoints that can be understood, by partition. To open the store would take a checkpoint file over. */
export async function storedPositions(settings: StoreSettings): Promise<ReadonlyMap<string, number>> {
  const { hub, data, store, checkpoints } = settings;
  const { inFile, namespace, name, consumerGroup } = hubPlaceOf(hub);
  if (store.kind === 'blob') {
    const { createBlobStore } = await import('../stores/blobCheckpoints.ts');
    const account = accessOf(settings).account('checkpoints');
    const { container } = checkpoints;
    const stored = await createBlobStore({ account, container, namespace, hub: name, consumerGroup }).checkpoints();
    return new Map(stored.flatMap(({ partition, at }) => (at === undefined ? [] : [[partition, at]])));
  }
  const { progress } = readCheckpointFile(checkpointPath(directoriesOf(data).checkpoints, inFile), inFile);
  const positions = progress.map((one) => [one.partition, one.progress.sequenceNumber] as const);
  return new Map(positions.filter(([, sequenceNumber]) => Number.isSafeInteger(sequenceNumber)));
}

/** Sends to a device that does not exist: the hub says so only to those who may send. */
function sendToNobody(access: ServiceAccess): Promise<unknown> {
  const client = newServiceClient(access);
  client.setRetryPolicy(noRetry);
  client.on('disconnect', () => undefined);
  const deviceId = `check-${randomUUID()}`;
  const reply = { kind: 'notification', deviceId, messageId: deviceId, correlationId: undefined } as const;
  const send = () => createSendBytes(client)({ ...reply, properties: {}, body: '{}' });
  return answered(client, client.open().then(send));
}

function invokeAtNobody(access: ServiceAccess) {
  const methods = createDirectMethods(access);
  const nobody = { device: `check-${randomUUID()}`, module: '', payload: null, timeoutSeconds: 5 };
  return methods.invoke(nobody).finally(methods.close);
}

const storageLimits = { attemptMs: 5_000, attempts: 2, pauseMs: 200 };
const folder = 'check/';
/** An interrupted trial leaves its blob, which a later one deletes. */
const leftoverMs = 10 * 60_000;

/** Creates a blob of its own under `check/`, writes, lists, reads and deletes it; makes the container, as the service does. @throws StorageError */
async function tryContainer(what: string, account: AccountAccess, container: string) {
  const { client: clientNow, attempt, ensureContainer } = openContainer({ account, container }, what, storageLimits);
  const client = clientNow();
  const by = performance.now() + answerMs;
  const path = `${folder}${randomUUID()}`;
  const blob = client.getBlockBlobClient(path);
  const write = (doing: string, conditions: object) =>
    attempt(doing, by, (abortSignal) => blob.upload('check', 5, { conditions, abortSignal }));

  async function isTaken(conditions: object): Promise<boolean> {
    const answer = await write('writing under a condition', conditions).catch((error: StorageError) => error);
    if (!(answer instanceof StorageError)) return true;
    if (answer.status !== 409 && answer.status !== 412) throw answer;
    return false;
  }

  async function listAndTidy(abortSignal: AbortSignal): Promise<void> {
    for await (const { name, properties } of client.listBlobsFlat({ prefix: folder, abortSignal })) {
      const ageMs = Date.now() - properties.lastModified.getTime();
      if (ageMs > leftoverMs) await client.deleteBlob(name, { abortSignal }).catch(() => undefined);
    }
  }

  const seen = { path, isConditional: false, keepsVersions: false, isHierarchical: false };
  let notDeleted: StorageError | undefined;
  await ensureContainer(by);
  const { etag } = await write('creating a blob', { ifNoneMatch: '*' });
  try {
    if (await isTaken({ ifNoneMatch: '*' })) return { ...seen, notDeleted };
    seen.keepsVersions = (await write('writing', { ifMatch: etag })).versionId !== undefined;
    if (await isTaken({ ifMatch: etag })) return { ...seen, notDeleted };
    seen.isConditional = true;
    await attempt('listing', by, listAndTidy);
    await attempt('reading', by, (abortSignal) => blob.getProperties({ abortSignal }));
    // A signature for the container alone does not show it.
    const asked = client.getAccountInfo({ abortSignal: AbortSignal.timeout(storageLimits.attemptMs) });
    seen.isHierarchical = (await asked.catch(() => undefined))?.isHierarchicalNamespaceEnabled ?? false;
  } finally {
    await attempt('deleting', by, (abortSignal) => blob.deleteIfExists({ abortSignal })).catch((error) => {
      notDeleted = error;
    });
  }
  return { ...seen, notDeleted };
}

async function tokenFrom(open: (troubles: Troubles) => TokenSource) {
  let cause = 'no token';
  const tokens = open({
    raise(_, { diagnosis }) {
      cause = String(Object(diagnosis).cause);
    },
    clear() {},
    close() {},
  });
  const token = await Promise.resolve(tokens.token()).catch(() => undefined);
  await tokens.close();
  return { token, cause };
}

/** Sends the request that also probes for the end of an outage (B5). */
async function ask(backend: BackendName, url: string, token: string) {
  const { adapter, close } = createTransport(url, { connections: 1, attemptTimeoutMs: requestMs });
  const attempt = createAttempt(adapter, maxAnswerBytes, { renew: async () => token }, backendNames[backend]);
  const headers = { 'x-svc-device-id': 'none', 'x-correlation-id': 'check' };
  const request = { method: 'GET', path: questions[backend], headers };
  return attempt(request, token, requestMs, createDeadline(requestMs / 1000)).finally(close);
}

/** The front door has no principal manager. */
export const urlOf = (backends: AnySettings['backends'], name: BackendName): string =>
  (backends as Partial<Settings['backends']>)[`${name}Url`] ?? '';

/** How far the clocks of the hub and the backends are ahead of ours; those that tell the time. */
async function readTimes({ hub, backends }: Pick<AnySettings, 'hub' | 'backends'>) {
  const hostName = partOf(hub.serviceConnectionString, 'HostName') || hub.hostName;
  const ofBackend = (key: string) =>
    key === 'tokenEndpoint' ? backends.tokenUrl : urlOf(backends, key as BackendName);
  const places: { name: string; url: string }[] = [
    { name: 'service endpoint', url: `https://${hostName}` },
    ...Object.entries(backendNames).map(([key, name]) => ({ name, url: ofBackend(key) })),
  ];
  const used = places.filter(({ url }) => URL.canParse(url));
  const asked = used.map(async ({ name, url }) => ({ name, aheadMs: await aheadMsOf(url) }));
  return (await Promise.all(asked)).filter(({ aheadMs }) => !Number.isNaN(aheadMs));
}

/** By the `Date` of an answer to `HEAD /`; NaN without it. */
async function aheadMsOf(url: string): Promise<number> {
  const { protocol, origin } = new URL(url);
  const options = { method: 'HEAD', agent: outboundAgent, signal: AbortSignal.timeout(requestMs) };
  const asked = Date.now();
  const request = (protocol === 'https:' ? https : http).request(origin, options).on('error', () => undefined);
  const answers: IncomingMessage[] = await once(request.end(), 'response').catch(() => []);
  answers[0]?.destroy();
  // The fraction of a second that is left out is half a second, on average.
  return Date.parse(answers[0]?.headers.date ?? '') + 500 - (asked + Date.now()) / 2;
}

/** What this machine, or the container, gives: bytes of memory, and open files, unless the system does not say. */
function machineLimits(): { readonly memory: number; readonly files: number | undefined } {
  const path = '/proc/self/limits';
  const [, files] = /^Max open files\s+(\S+)/m.exec(existsSync(path) ? readFileSync(path, 'utf8') : '') ?? [];
  return {
    memory: Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem()),
    files: files === 'unlimited' ? Number.POSITIVE_INFINITY : Number(files) || undefined,
  };
}

export interface Probe<S> {
  /** Of its line; docs/operations.md says what each tries. */
  readonly name: string;
  applies?(settings: S): boolean;
  /** @returns by the table of diagnoses. @throws an error of the probe itself */
  attempt(open: Openers, settings: S): Promise<Said>;
}

/** What a failure means for an operator. `isAnswer`: the other side refuses; `cause` has the code, if one is known. */
type Meaning = {
  readonly setting?: string;
  readonly todo: string;
  readonly isAnswer?: boolean;
  readonly cause?: string | undefined;
};

/** An outage, which may pass, unless something must be mended. */
export const failed = (said: string, { setting, todo, isAnswer, cause = '' }: Meaning): Found =>
  (isAnswer || isLasting(cause) ? fault : away)(setting === undefined ? said : `${said} (${setting})`, todo);

/** @param said by what does not answer; has the code of the cause, if one is known */
export function unanswered(said: string, setting: string): Found {
  const cause = said.match(/\b(?:E[A-Z]{2,}\w*|[A-Z]+_[A-Z_]+)\b/g)?.at(-1) ?? '';
  return failed(said, { setting, todo: todoOrWait(cause, `compare ${setting}`), cause, ...ownLimitOf(cause) });
}
