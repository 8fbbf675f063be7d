import type { AddressInfo } from 'node:net';
import { createMethodBackends } from '../backends/methodBackends.ts';
import type { MethodsSettings } from '../config.ts';
import { createHubAccess } from '../hub/methods/access.ts';
import { createDirectMethods } from '../hub/methods/directMethods.ts';
import type { Files } from '../hub/methods/files.ts';
import { within } from '../hub/within.ts';
import type { Log } from '../log.ts';
import { startOperationsServer } from '../operations/http.ts';
import { mostInvocations } from '../settings/constants.ts';
import { secretsOf } from '../settings/secrets.ts';
import { createTroubles } from '../troubles.ts';
import { readCertificate } from './certificate.ts';
import { createDoor } from './door.ts';
import { createFileInputs } from './fileInputs.ts';
import { createInvoke } from './invoking.ts';
import { contract } from './openapi.ts';
import { createRoom } from './room.ts';
import { createServer } from './server.ts';

/** The running front door. */
export interface FrontDoor {
  /** Where invocations are taken. */
  readonly port: number;
  readonly healthPort: number;
  /** Takes no more, finishes what is in work, closes. */
  stop(): Promise<void>;
}

/** What was broken off is answered at once. */
const lastAnswersMs = 2_000;

/**
 * The only wiring of the front door (M1): settings → backends, hub, files, HTTP, health.
 * @throws Error when a port cannot be had
 * @throws ConfigurationError when the certificate cannot be used
 */
export async function startFrontDoor(
  settings: MethodsSettings,
  log: Log,
  directMethods = createDirectMethods(settings.hub.serviceConnectionString),
): Promise<FrontDoor> {
  const { methods, http } = settings;
  const troubles = createTroubles(log);
  const backends = createMethodBackends(settings.backends, log.child({ part: 'backends' }), secretsOf(settings));
  const access = createHubAccess(directMethods, log, troubles);
  const fileInputs = createFileInputs({
    files: await openFiles(settings.files),
    tenantClaim: settings.files.tenantClaim,
    onOutage: (cause) =>
      troubles.met('storage', { level: 'error', message: 'the storage of files does not answer', fields: { cause } }),
  });
  const invoke = createInvoke({
    backends,
    directMethods,
    observe: access.observe,
    fileInputs,
    edgeModule: methods.edgeModule,
  });
  const room = createRoom({ inFlight: mostInvocations, inFlightPerDevice: methods.inFlightPerDevice });
  const door = createDoor({ backends, invoke, room, log });
  const server = createServer({ door, contract: contract(), tls: readCertificate(methods), log });

  const health = await startOperationsServer(http.host, http.port, {
    missing: () => [
      ...(door.isStopping() ? ['an end to the stop'] : []),
      ...(access.isAgreed() ? [] : ['the hub’s consent to invoke methods']),
    ],
    stuck: () => [],
  });
  await server.listen({ host: http.host, port: methods.port });
  const { port } = server.server.address() as AddressInfo;
  log.info({ port, healthPort: health.port }, 'methods can be invoked; health is served at /livez and /readyz');
  access.start();

  return {
    port,
    healthPort: health.port,
    async stop() {
      door.stop();
      const finished = server.close();
      await within(Promise.resolve(finished), methods.drainSeconds * 1000).catch(async () => {
        log.warn('invocations in work are broken off: the stop has taken its time');
        door.breakOff();
        directMethods.breakOff();
        await within(Promise.resolve(finished), lastAnswersMs).catch(() => server.server.closeAllConnections());
      });
      await within(door.emptied(), lastAnswersMs).catch(() => undefined); // a connection may end before its answer does
      access.close();
      directMethods.close();
      troubles.close();
      await Promise.all([backends.close(), health.close()]);
      log.info('stopped');
    },
  };
}

/** The storage client is loaded only if there is a container: it takes 20 MB. */
async function openFiles(settings: MethodsSettings['files']): Promise<Files | undefined> {
  if (settings.container === '') return undefined;
  const { createFiles } = await import('../hub/methods/files.ts');
  return createFiles(settings);
}
