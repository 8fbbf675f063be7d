import { readFileSync } from 'node:fs';
import { tunnelTo, useProxies } from '@device-messaging/telemetry/outbound.ts';
import { hostOf } from '@device-messaging/telemetry/proxies.ts';
import { trustAlso } from '@device-messaging/telemetry/trust.ts';
import type { buildConnector as BuildConnector } from 'undici';
import buildConnector from 'undici/lib/core/connect.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { ConfigurationError, type MethodsSettings, type Settings } from '../settings/config.ts';
import { proxiesIn } from '../settings/derived.ts';
import { missingOfPlatform } from './identity.ts';

/** For a program with these settings. @param problems why it cannot run @throws ConfigurationError with those and what the platform lacks */
export function preparePlatform(
  settings: Settings | MethodsSettings,
  env: NodeJS.ProcessEnv,
  problems: readonly string[] = [],
) {
  const found = [...missingOfPlatform(settings.identity, env), ...problems];
  if (found.length > 0) throw new ConfigurationError(found);
  useNetwork(settings);
}

/** Sets for the whole process how it reaches other machines (D406, D407). @throws ConfigurationError when the file of authorities cannot be used */
export function useNetwork({ network }: Pick<Settings | MethodsSettings, 'network'>): void {
  useProxies(proxiesIn(network));
  const { caFile } = network;
  if (caFile === '') return;
  try {
    trustAlso(readFileSync(caFile, 'utf8'));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const fault = code === undefined ? message : `cannot be read (${code})`;
    throw new ConfigurationError([`NETWORK_CA_FILE: ${caFile} ${fault}`]);
  }
}

interface PoolLimits {
  readonly connections?: number;
  readonly connectMs: number;
  /** A connection without a request is kept for this time; the library's own when omitted. */
  readonly idleMs?: number;
  /** PEM of certificate authorities that replace the default ones. */
  readonly ca?: string | undefined;
}

/** A connection is not used so shortly before its peer closes it. With the 2 s of the library, one that is kept for 2 s would serve one request. */
const beforePeerMs = 500;

/** Connections to one origin, through its proxy if it has one (D406). The library's time-outs are late and leave the queue out: there are none. */
export function openPool(origin: string, { connections, connectMs, idleMs, ca }: PoolLimits): Pool {
  const tls = { timeout: connectMs, ...(ca !== undefined && { ca }) };
  const address = new URL(origin);
  return new Pool(origin, {
    ...(connections !== undefined && { connections }),
    ...(idleMs !== undefined && { keepAliveTimeout: idleMs, keepAliveMaxTimeout: idleMs }),
    keepAliveTimeoutThreshold: beforePeerMs,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: tunnelTo(address) === undefined ? tls : connectorThrough(address, tls),
  });
}

/** Asks for the tunnel at each connection: the proxy's password can change (D397). */
function connectorThrough(address: URL, tls: BuildConnector.BuildOptions): BuildConnector.connector {
  const connect = buildConnector(tls);
  return (wanted, done) => {
    const tunnel = tunnelTo(address);
    if (tunnel === undefined) return connect(wanted, done);
    const isSecure = wanted.protocol === 'https:';
    tunnel.open(hostOf(wanted), Number(wanted.port) || (isSecure ? 443 : 80)).then(
      (httpSocket) => {
        if (isSecure) connect({ ...wanted, httpSocket }, done);
        else done(null, httpSocket.setNoDelay(true));
      },
      (error) => done(error, null),
    );
  };
}
