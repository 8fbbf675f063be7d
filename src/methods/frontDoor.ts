import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { namingSetting, serveHealth } from '@device-messaging/telemetry/health.ts';
import { type Access, accessOf } from '../access/access.ts';
import { isSecret, readCertificate, watchCertificate } from '../access/secretFiles.ts';
import type { AdminRoute } from '../admin/adminServer.ts';
import { openAdmin } from '../admin/adminServer.ts';
import { tapRoute } from '../admin/tapRoute.ts';
import { observeBackends, shownBackends } from '../backends/backend.ts';
import { createMethodBackends, type MethodBackends } from '../backends/backends.ts';
import { ageOf } from '../concurrency/clocks.ts';
import { endsWithin } from '../concurrency/waiting.ts';
import { createDirectMethods, type DirectMethods } from '../hub/methods/directMethods.ts';
import { createHubAccess } from '../hub/methods/hubAccess.ts';
import { createStoreRecords } from '../observing/callRecords.ts';
import { createInvocationRecords, type InvocationObservation } from '../observing/invocationRecords.ts';
import { createTroubles, type Log, type LogLines, withFields } from '../observing/log.ts';
import { namesIn, openMetrics } from '../observing/metrics.ts';
import { inWords, type Traces } from '../observing/observation.ts';
import { storeFailureOf } from '../observing/storeFailure.ts';
import { createTaps } from '../observing/taps.ts';
import type { MethodsSettings } from '../settings/config.ts';
import { invocationLimits, mostBodies } from '../settings/constants.ts';
import { healthAddress, placeOf, thisBuild, versionOfBuild } from '../settings/derived.ts';
import { partOf } from '../settings/formats.ts';
import { secretsOf } from '../settings/secrets.ts';
import type { FileStorage } from '../stores/methodFiles.ts';
import { createFileInputs, recordedFiles } from './fileInputs.ts';
import { createInvoke } from './invoke.ts';
import { createConcurrencyLimits } from './limits.ts';
import { createRequestHandler, type RequestHandler } from './requestHandler.ts';
import { createServer, secureOptions } from './server.ts';

/** After the drain time, for the last log lines, and for a collector of spans and metrics that is slow. */
const closeMs = 750;

/**
 * The only wiring of the front door (M1): settings → backends, hub, files, HTTP, health. `traces` are closed with the rest.
 * @throws Error when a port cannot be opened; ConfigurationError when the certificate is invalid
 */
export async function startFrontDoor(
  settings: MethodsSettings,
  log: Log,
  given?: DirectMethods,
  traces?: Traces,
  instance: string = randomUUID(),
  limits = invocationLimits,
) {
  const { methods, http, hub } = settings;
  const [hubHost = ''] = (hub.hostName || partOf(hub.serviceConnectionString, 'HostName')).split(':', 1);
  const troubles = createTroubles(log, () => amounts());
  const telling = { log, troubles };
  const access = accessOf(settings, telling);
  const service = access.service();
  const directMethods = given ?? createDirectMethods(service);
  const taps = createTaps();
  const metrics = openMetrics({
    ...{ service: 'device-messaging-methods', version: versionOfBuild(process.env), instance },
    ...{ names: namesIn.methods, env: process.env, log },
  });
  const { meter } = metrics;
  const amounts = () => ({ inProgress: handler.inProgress() });
  const backendLog = withFields(log, { part: 'backends' });
  const secrets = () => secretsOf(settings);
  const backends = createMethodBackends(settings.backends, backendLog, { access, secrets, amounts, meter });
  const hubAccess = createHubAccess(directMethods, isSecret(service), log, troubles);
  const storage = await openStorage(settings, access);
  const filesPlace = placeOf(settings.files, { ...settings.store, kind: 'blob' }, 'METHODS_FILES');
  const fileInputs = createFileInputs({
    storage: storage && recordedFiles(storage, filesPlace, createStoreRecords(meter)),
    tenantClaim: settings.files.tenantClaim,
    onOutage(error) {
      const diagnosis = { cause: error.said, ...storeFailureOf(error, filesPlace)?.diagnosis };
      troubles.raise('storage', { level: 'error', message: 'the file storage is unavailable', diagnosis });
    },
  });
  const { recordOutcome } = hubAccess;
  const handler = createRequestHandler({
    ...{ backends, log },
    invoke: createInvoke({ backends, directMethods, recordOutcome, fileInputs, edgeModule: methods.edgeModule }),
    limits: createConcurrencyLimits({ ...limits, bodies: mostBodies }),
    invocations: createInvocationRecords({ hubHost, log, meter, traces, taps }),
  });
  const tls = readCertificate(methods);
  const server = createServer({ handler, tls, log });
  const certificate = watchCertificate(methods, tls, telling, (changed) => {
    if (server.server instanceof TlsServer) server.server.setSecureContext(secureOptions(changed));
  });

  const missing = () => [
    ...(handler.isStopping() ? ['the end of the stop'] : []),
    ...(hubAccess.isGranted() ? [] : ['access to methods of the hub']),
  ];
  meter.observe('device_messaging.ready', () => [[missing().length === 0 ? 1 : 0]]);
  const health = await serveHealth(healthAddress(http), { missing, metrics: metrics.text });
  meter.observe('http.server.active_requests', () => [[handler.inProgress()]]);
  observeBackends(meter, backends.states);
  const address = { host: http.host, port: methods.port };
  await server.listen(address).catch((error) => {
    throw namingSetting(error, { ...address, settings: { host: 'HTTP_HOST', port: 'METHODS_PORT' } });
  });
  const { port } = server.server.address() as AddressInfo;
  const served = { port, healthPort: health.port, access: access.ways() };
  log.info(served, 'methods can be invoked; health is served at /livez and /readyz');
  const about = { program: 'front door', instance, ...thisBuild(process.env) };
  const routes = {
    ...frontDoorRoutes(handler, backends),
    '/tap': tapRoute(taps, secrets, () => ({ instance, held: undefined })),
  };
  const admin = await openAdmin(settings, log, about, routes, access.adminToken());
  hubAccess.start();

  return {
    port,
    healthPort: health.port,
    /** Refuses new invocations, waits for those in progress, then closes; within a second of the drain time (M14). */
    async stop(): Promise<void> {
      const drainMs = methods.drainSeconds * 1000;
      const latest = performance.now() + drainMs + closeMs;
      const close = async () => server.close();
      const closeAllConnections = () => server.server.closeAllConnections();
      await drain({ drainMs, handler, directMethods, server: { close, closeAllConnections }, log });
      hubAccess.close();
      directMethods.close();
      access.close();
      certificate.close();
      troubles.close();
      const closed = [backends.close(), health.close(), admin.close(), traces?.close(), metrics.close()];
      await endsWithin(Promise.all(closed), latest - performance.now());
      log.info({}, 'stopped');
    },
  };
}

/** Loads the storage client, which takes 20 MB, only when it is needed. */
async function openStorage({ files }: MethodsSettings, access: Access): Promise<FileStorage | undefined> {
  const { container, maxBytes } = files;
  if (container === '') return undefined;
  const { createFileStorage } = await import('../stores/methodFiles.ts');
  return createFileStorage({ account: access.account('files'), container, maxBytes });
}

interface DrainOptions {
  readonly drainMs: number;
  readonly handler: Pick<RequestHandler, 'stop' | 'abort' | 'idle'>;
  readonly directMethods: Pick<DirectMethods, 'abort'>;
  /** `close` takes no more connections, and resolves when the open ones have ended. */
  readonly server: { close(): Promise<unknown>; closeAllConnections(): void };
  readonly log: Pick<LogLines, 'warn'>;
}

/** For the last answers to arrive, those to what is aborted among them. */
const answerMs = 500;
/** After it, for the log lines of requests whose connections were closed. */
const linesMs = 250;

/**
 * Refuses new requests and waits for the open ones. Shortly before the end of the drain time it aborts them, so that each has its answer and
 * its log line by then; then it closes the connections (D205).
 */
export async function drain({ drainMs, handler, directMethods, server, log }: DrainOptions): Promise<void> {
  handler.stop();
  const closed = server.close();
  const idle = handler.idle();
  if (!(await endsWithin(Promise.race([closed, idle]), drainMs - answerMs))) {
    log.warn({}, 'aborting the invocations in progress: the drain time is over');
    handler.abort();
    directMethods.abort();
  }
  if (!(await endsWithin(closed, answerMs))) server.closeAllConnections();
  await endsWithin(idle, linesMs); // a connection may close before its request has ended
}

const mostRequests = 100;

export function frontDoorRoutes(
  handler: Pick<RequestHandler, 'requests' | 'inProgress'>,
  backends: Pick<MethodBackends, 'states'>,
): Readonly<Record<string, AdminRoute>> {
  return {
    '/requests': {
      about: 'the invocations in progress, the oldest first, and what each waits for',
      get: () => ({
        inProgress: handler.inProgress(),
        requests: [...handler.requests()].slice(0, mostRequests).map(shownRequest),
      }),
    },
    '/backends': { about: 'circuits, connections and caches', get: () => shownBackends(backends.states()) },
  };
}

const shownRequest = ({ fields, begunAt, open }: InvocationObservation) => ({
  ...fields,
  ...ageOf(begunAt),
  waitsFor: [...open].map(inWords).join('; ') || 'its body, or nothing',
});
