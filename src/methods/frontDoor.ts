import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { namingSetting } from 'telemetry/address.ts';
import { serveHealth } from 'telemetry/healthServer.ts';
import { withFields } from 'telemetry/log.ts';
import { readingBytes } from '../backends/largeAnswer.ts';
import { createMethodBackends } from '../backends/methodBackends.ts';
import { endsWithin } from '../concurrency/waiting.ts';
import { createLine } from '../engine/budget/line.ts';
import { createDirectMethods, type DirectMethods } from '../hub/methods/directMethods.ts';
import type { FileStorage } from '../hub/methods/fileStorage.ts';
import { createHubAccess } from '../hub/methods/hubAccess.ts';
import { type Access, accessOf } from '../identity/access.ts';
import { isSecret } from '../identity/rotatingSecret.ts';
import type { Log } from '../log/log.ts';
import { createTroubles } from '../log/troubles.ts';
import { openMetrics } from '../metrics/exposition.ts';
import { namesIn } from '../metrics/metrics.ts';
import { createInvocationRecords } from '../observing/invocationRecords.ts';
import { createStoreRecords } from '../observing/storeRecords.ts';
import { observeBackends } from '../operations/backendGauges.ts';
import { thisBuild, versionOfBuild } from '../operations/build.ts';
import { openAdmin } from '../operations/openAdmin.ts';
import { tapRoute } from '../operations/tapRoute.ts';
import type { MethodsSettings } from '../settings/config.ts';
import { invocationLimits, mostBodies } from '../settings/constants.ts';
import { healthAddress, placeOf } from '../settings/derived.ts';
import { secretsOf } from '../settings/secrets.ts';
import { storeFailureOf } from '../storage/storeFailure.ts';
import { createTaps } from '../tap/taps.ts';
import type { Traces } from '../tracing/span.ts';
import { frontDoorRoutes } from './adminRoutes.ts';
import { readCertificate, watchCertificate } from './certificate.ts';
import { createConcurrencyLimits } from './concurrencyLimits.ts';
import { drain } from './drain.ts';
import { createFileInputs } from './fileInputs.ts';
import { secureOptions } from './httpServer.ts';
import { createInvoke } from './invoke.ts';
import { contract } from './openapi.ts';
import { recordedFiles } from './recordedFiles.ts';
import { createRequestHandler } from './requestHandler.ts';
import { createServer } from './server.ts';

/** The running front door. */
export interface FrontDoor {
  readonly port: number;
  readonly healthPort: number;
  /** Refuses new invocations, waits for those in progress, then closes; within a second of the drain time (M14). */
  stop(): Promise<void>;
}

/** After the drain time, for the last log lines, and for a collector of spans and metrics that is slow. */
const closeMs = 750;

/**
 * The only wiring of the front door (M1): settings → backends, hub, files, HTTP, health.
 * @param traces closed with the rest
 * @throws Error when a port cannot be opened
 * @throws ConfigurationError when the certificate is invalid
 */
export async function startFrontDoor(
  settings: MethodsSettings,
  log: Log,
  given?: DirectMethods,
  traces?: Traces,
  instance: string = randomUUID(),
  limits = invocationLimits,
): Promise<FrontDoor> {
  const { methods, http } = settings;
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
  const room = createLine({ maxMessages: Number.POSITIVE_INFINITY, maxBytes: readingBytes });
  const backends = createMethodBackends(settings.backends, backendLog, secrets, amounts, meter, access, room);
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
  const invoke = createInvoke({
    backends,
    directMethods,
    recordOutcome: hubAccess.recordOutcome,
    fileInputs,
    edgeModule: methods.edgeModule,
  });
  const handler = createRequestHandler({
    backends,
    invoke,
    concurrency: createConcurrencyLimits({ ...limits, bodies: mostBodies }),
    invocations: createInvocationRecords({
      hubHost: hubHostOf(settings.hub),
      ...{ log, meter, traces, taps },
    }),
  });
  const tls = readCertificate(methods);
  const server = createServer({ handler, contract: contract(), tls, log });
  const certificate = watchCertificate(methods, tls, telling, (changed) => {
    if (server.server instanceof TlsServer) server.server.setSecureContext(secureOptions(changed));
  });

  const health = await serveHealth(healthAddress(http), {
    missing: () => [
      ...(handler.isStopping() ? ['the end of the stop'] : []),
      ...(hubAccess.isGranted() ? [] : ['access to methods of the hub']),
    ],
    metrics: metrics.text,
  });
  meter.observe('http.server.active_requests', () => [[handler.inProgress()]]);
  observeBackends(meter, backends.states);
  const address = { host: http.host, port: methods.port, settings: { host: 'HTTP_HOST', port: 'METHODS_PORT' } };
  await server.listen({ host: http.host, port: methods.port }).catch((error) => {
    throw namingSetting(error, address);
  });
  const { port } = server.server.address() as AddressInfo;
  log.info(
    { port, healthPort: health.port, access: access.ways() },
    'methods can be invoked; health is served at /livez and /readyz',
  );
  const about = { program: 'front door', instance, ...thisBuild(process.env) };
  const routes = {
    ...frontDoorRoutes({ handler, backends }),
    '/tap': tapRoute(taps, secrets, () => ({ instance, held: undefined })),
  };
  const admin = await openAdmin(settings, log, about, routes, access.adminToken());
  hubAccess.start();

  return {
    port,
    healthPort: health.port,
    async stop() {
      const drainMs = methods.drainSeconds * 1000;
      const latest = performance.now() + drainMs + closeMs;
      const closing = {
        close: async () => server.close(),
        closeAllConnections: () => server.server.closeAllConnections(),
      };
      await drain({ drainMs, handler, directMethods, server: closing, log });
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

const hubHostOf = ({ serviceConnectionString, hostName }: MethodsSettings['hub']): string =>
  hostName.split(':', 1)[0] || (/(?:^|;)\s*HostName=([^;:]+)/.exec(serviceConnectionString)?.[1] ?? '');

/** Loads the storage client, which takes 20 MB, only when it is needed. */
async function openStorage({ files }: MethodsSettings, access: Access): Promise<FileStorage | undefined> {
  const { container, maxBytes } = files;
  if (container === '') return undefined;
  const { createFileStorage } = await import('../hub/methods/fileStorage.ts');
  return createFileStorage({ account: access.account('files'), container, maxBytes });
}
