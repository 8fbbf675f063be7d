import { setMaxListeners } from 'node:events';
import { createJournal, type Journal } from 'iot-hub-emulator/journal';
import { serveAdmin } from './admin/serve.ts';
import { type BackendCall, type CallFilter, callsIn } from './calls/calls.ts';
import { type BackendName, createFaults, type Faults } from './calls/faults.ts';
import { type Applications, createApplications } from './credentials/applications.ts';
import { loadOrCreateClient } from './credentials/client.ts';
import { createTokens } from './credentials/tokens.ts';
import { serveBackend } from './http/backend.ts';
import { informationModelRoutes } from './informationModel/informationModelRoutes.ts';
import { principalManagerRoutes } from './principalManager/principalManagerRoutes.ts';
import { typeRegistryRoutes } from './typeRegistry/typeRegistryRoutes.ts';
import { openWorld, type World } from './world/world.ts';

export interface BackendsOptions {
  /** Ports on the loopback interface; 0 or absent: a free one. */
  readonly ports?: {
    readonly informationModel?: number;
    readonly typeRegistry?: number;
    readonly principalManager?: number;
    readonly admin?: number;
  };
  /** Stores the world and the client's secret there, across restarts; in memory when absent. */
  readonly directory?: string;
  /** Life of an access token in seconds, 3600 when absent. */
  readonly tokenLifetimeSeconds?: number;
  /** Tokens that a backend accepts besides those of the token endpoint: of an identity. */
  readonly accepts?: (backend: BackendName, token: string) => boolean;
  /** Begins with the example world. */
  readonly seed?: boolean;
  /** Records the calls; one of its own, in memory, when absent. */
  readonly journal?: Journal;
}

/** The three running backends. */
export interface Backends {
  readonly informationModelUrl: string;
  readonly typeRegistryUrl: string;
  readonly principalManagerUrl: string;
  readonly adminUrl: string;
  /** The OAuth 2 client-credentials endpoint and the one client it knows. */
  readonly token: {
    readonly url: string;
    readonly clientId: string;
    readonly clientSecret: string;
    /** The secrets that the client has from now on: two while one replaces the other. */
    setSecrets(...secrets: readonly string[]): void;
    /** Makes every token that was issued invalid at once. */
    revokeAll(): void;
  };
  /** Issues the bearer tokens with which applications read object models. */
  readonly applications: Applications;
  readonly world: World;
  readonly journal: Journal;
  /** The calls that the journal has. */
  calls(filter?: CallFilter): BackendCall[];
  readonly faults: Faults;
  /** Destroys every connection and frees the ports. */
  close(): Promise<void>;
}

/** Starts information model, type registry, principal manager and their admin port on the loopback interface. */
export async function startBackends(options: BackendsOptions = {}): Promise<Backends> {
  const { ports = {}, directory, tokenLifetimeSeconds = 3600, seed = false, journal = createJournal() } = options;
  const world = openWorld(directory, seed);
  const client = loadOrCreateClient(directory);
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // every call that a fault delays listens
  const context = {
    world,
    tokens: createTokens(client, tokenLifetimeSeconds),
    accepts: options.accepts ?? (() => false),
    applications: createApplications(),
    faults: createFaults(),
    journal,
    closing: closing.signal,
  };
  const { tokens, applications, faults } = context;

  const starting = await Promise.allSettled([
    serveBackend('informationModel', ports.informationModel ?? 0, informationModelRoutes(world), context),
    serveBackend('typeRegistry', ports.typeRegistry ?? 0, typeRegistryRoutes(world), context),
    serveBackend('principalManager', ports.principalManager ?? 0, principalManagerRoutes(world), context),
    serveAdmin(ports.admin ?? 0, context),
  ]);

  async function close(): Promise<void> {
    closing.abort();
    await Promise.all(starting.map(async (start) => start.status === 'fulfilled' && start.value.close()));
    world.close();
  }

  const [informationModel, typeRegistry, principalManager, admin] = starting.map((start) => {
    return start.status === 'fulfilled' ? start.value.url : undefined;
  });
  if (!informationModel || !typeRegistry || !principalManager || !admin) {
    await close();
    throw starting.find((start) => start.status === 'rejected')?.reason;
  }
  return {
    informationModelUrl: informationModel,
    typeRegistryUrl: typeRegistry,
    principalManagerUrl: principalManager,
    adminUrl: admin,
    token: { url: `${admin}/oauth2/token`, ...client, setSecrets: tokens.setSecrets, revokeAll: tokens.revokeAll },
    applications,
    world,
    journal,
    calls: (filter) => callsIn(journal.list(filter)),
    faults,
    close,
  };
}
