import { X509Certificate } from 'node:crypto';
import { accessSync, constants, mkdirSync, statfsSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import {
  away,
  createReport,
  doubt,
  type Found,
  fault,
  runChecks,
  type Said,
} from '@device-messaging/telemetry/check.ts';
import { ProxyFailure, proxyAdvice, tunnelTo } from '@device-messaging/telemetry/outbound.ts';
import { hostOf, proxySecrets } from '@device-messaging/telemetry/proxies.ts';
import { createScrub } from '@device-messaging/telemetry/secrets.ts';
import mqtt from 'mqtt';
import { ConfigurationError } from './configuration/checks.ts';
import { type Configuration, readConfiguration } from './configuration/read.ts';
import { errorMessage, hubAddress, proxyIn, useNetwork } from './connections/network.ts';
import { clientOptions } from './modules/brokerConnection.ts';
import { secretsOf } from './observing/log.ts';

/** One thing that the proxy needs. */
interface Probe {
  /** As each of its findings has it. */
  readonly name: string;
  /** Looks, and changes nothing that lasts. */
  attempt(configuration: Configuration): Promise<Said>;
}

/** All that the proxy needs besides its configuration, in the order of the report. */
export const probes: readonly Probe[] = [
  { name: 'hub', attempt: tryHub },
  { name: 'broker', attempt: tryBroker },
  { name: 'folders', attempt: tryFolders },
];

/**
 * Tries all that the proxy needs, beside one that runs too (D375).
 * @param write is given the report
 * @returns the exit code
 */
export async function checkEdge(
  file: string,
  options: { readonly isJson: boolean; readonly isInit: boolean },
  write: (text: string) => void,
): Promise<number> {
  let cover = (text: string) => text;
  const report = createReport({ ...options, cover: (text) => cover(text), write });
  try {
    const configuration = await readConfiguration(file);
    useNetwork(configuration, process.env);
    cover = createScrub([...secretsOf(configuration), ...proxySecrets(proxyIn(process.env))]);
    const found = `${file} is valid, with ${configuration.modules.length} modules`;
    report.add({ what: 'configuration', mark: 'ok', found });
    const checks = probes.map(({ name, attempt }) => ({ what: name, look: () => attempt(configuration) }));
    for await (const finding of runChecks(checks)) report.add(finding);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    for (const problem of error.problems) report.add({ what: 'configuration', ...fault(problem, `correct ${file}`) });
  }
  return report.end();
}

const isOfCertificate = (code: unknown): boolean => /CERT|ISSUER|SIGNATURE/.test(String(code));

const answerMs = 10_000;
const usualPorts = { tls: 8883, webSockets: 443 };

/**
 * Connects, and verifies the certificate. Does not sign in: a hub ends the other connection of an identity, which is that of
 * the running proxy. So a wrong key shows only at the start.
 */
async function tryHub({ hub: { connectionString, ca, certificate, webSockets } }: Configuration): Promise<Said> {
  const address = hubAddress(connectionString);
  const host = hostOf(address);
  const port = Number(address.port) || usualPorts[webSockets ? 'webSockets' : 'tls'];
  const tunnel = tunnelTo(address);
  const where = `${address.hostname}:${port}${tunnel === undefined ? '' : ` through ${tunnel.proxy.host} (HTTPS_PROXY)`}`;
  try {
    const way = tunnel === undefined ? { host, port } : { host, socket: await tunnel.open(host, port) };
    const until = await new Promise<string>((resolve, reject) => {
      const servername = isIP(host) === 0 ? { servername: host } : {};
      const socket = connect({ ...way, ...servername, ...(ca !== undefined && { ca }), timeout: answerMs });
      socket.once('secureConnect', () => {
        resolve(socket.getPeerCertificate().valid_to);
        socket.destroy();
      });
      socket.once('timeout', () => socket.destroy(new Error(`no answer within ${answerMs / 1000} s`)));
      socket.once('error', reject);
    });
    const well = `${where} answers, its certificate is valid until ${dayOf(until)}; the key shows only when the proxy signs in`;
    return certificate === undefined ? well : [well, ownCertificate(certificate)];
  } catch (error) {
    if (error instanceof ProxyFailure) return proxyFound(where, error);
    const { code = '' } = error as NodeJS.ErrnoException;
    const found = `${where}: ${code || errorMessage(error)}`;
    return isOfCertificate(code)
      ? fault(found, 'hub.caFile or network.caFile must name the authority of its certificate')
      : away(found, 'compare HostName in hub.connectionString with that of the hub, or wait until it is back');
  }
}

/** A proxy that refuses does so until its rules change, or the credentials. */
function proxyFound(where: string, { code, message }: ProxyFailure): Found {
  const isRefusal = code === 'EPROXYAUTH' || code === 'EPROXYREFUSED';
  return (isRefusal ? fault : away)(`${where}: ${message}`, proxyAdvice[code]);
}

/** Until when the certificate of the proxy itself is valid: the hub refuses one that has expired without a reason. */
function ownCertificate(certificate: string): string {
  const { validFrom, validTo } = new X509Certificate(certificate);
  return `the certificate of the proxy is valid from ${dayOf(validFrom)} until ${dayOf(validTo)}`;
}

const dayOf = (time: string): string => new Date(time).toISOString().slice(0, 10);

/** Refusals in the answer to a sign-in, MQTT 3.1.1: of the client id, the user or the password. */
const signInRefusals: readonly unknown[] = [2, 4, 5];

/**
 * Signs in as the proxy does, under a client id of its own: a broker ends the other connection of an id. Subscribes to
 * nothing, so that no reply comes here.
 */
async function tryBroker({ broker }: Configuration): Promise<Said> {
  const { clientId: _, ...options } = clientOptions(broker);
  const client = mqtt.connect(broker.url, options);
  try {
    await new Promise<void>((resolve, reject) => {
      client.once('connect', () => resolve());
      client.once('error', reject);
      client.once('close', () => reject(new Error('the broker has closed the connection')));
    });
    return `${broker.url} takes the user ${broker.username ?? '(none)'}`;
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    const found = `${broker.url}: ${errorMessage(error)}`;
    if (signInRefusals.includes(code))
      return fault(found, 'compare broker.username and broker.password with those of the broker');
    return isOfCertificate(code)
      ? fault(found, 'broker.caFile must name the authority of its certificate')
      : away(found, 'compare broker.url, or start the broker');
  } finally {
    await client.endAsync(true).catch(() => undefined);
  }
}

const mebibyte = 1024 * 1024;

/** The folders into which files for modules are downloaded: that they can be written, and that their disks have room for the quotas. */
async function tryFolders({ modules }: Configuration): Promise<Said> {
  const found: Found[] = [];
  /** By disk: what its folders may come to hold, and what it has. */
  const disks = new Map<number, { needed: number; free: number; folder: string }>();
  for (const { id, files } of modules) {
    if (files === undefined) continue;
    const { folder, quotaBytes } = files;
    try {
      mkdirSync(folder, { recursive: true });
      accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
      const { bavail, bsize, blocks } = statfsSync(folder);
      const { dev } = statSync(folder);
      const free = blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
      const disk = disks.get(dev) ?? { needed: 0, free, folder };
      disks.set(dev, { ...disk, needed: disk.needed + quotaBytes });
    } catch (error) {
      const remedy = `mount a folder there that user ${process.geteuid?.()} can write`;
      found.push(fault(`module ${id}: ${(error as Error).message}`, remedy));
    }
  }
  for (const { needed, free, folder } of disks.values()) {
    if (free >= needed) continue;
    const room = `the disk of ${folder} has ${Math.floor(free / mebibyte)} MB free, the quotas on it are ${Math.ceil(needed / mebibyte)} MB`;
    found.push(doubt(room, 'make room, or lower quotaBytes'));
  }
  if (found.length > 0) return found;
  return disks.size === 0 ? 'no module has files' : 'all can be written, with room for their quotas';
}
