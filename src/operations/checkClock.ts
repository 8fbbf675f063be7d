import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { type Finding, failure, ok, warning } from '@device-messaging/telemetry/check.ts';
import { outboundAgent } from '@device-messaging/telemetry/outbound.ts';
import { backendNames } from '../protocol/vocabulary.ts';
import type { MethodsSettings } from '../settings/config.ts';
import type { BackendUrls } from './checkBackends.ts';

const what = 'clock';
const answerMs = 10_000;
/** `Date` has whole seconds, and an answer takes time. */
const noiseMs = 2_000;
/** Owners of partitions are told apart by times (D15). */
const doubtfulMs = 5_000;
/** A signature of the storage is refused when it is older than a quarter of an hour, and one of the hub's tokens earlier. */
const wrongMs = 5 * 60_000;

interface Reading {
  readonly name: string;
  /** How far its clock is ahead of ours. */
  readonly aheadMs: number;
}

/** Compares the clock of this machine with the `Date` of the hub and the backends. Asks for the headers of `/` only. */
export async function checkClock(
  { hub, backends }: Pick<MethodsSettings, 'hub' | 'backends'>,
  urls: BackendUrls,
): Promise<Finding[]> {
  const [, hostName = hub.hostName] = /(?:^|;)\s*HostName=([^;]+)/.exec(hub.serviceConnectionString) ?? [];
  const { tokenUrl: tokenEndpoint } = backends;
  const answers = [
    readingsOf('service endpoint', `https://${hostName}`),
    ...Object.entries({ ...urls, ...(tokenEndpoint !== '' && { tokenEndpoint }) }).map(([name, url]) =>
      readingsOf(backendNames[name as keyof typeof backendNames], url),
    ),
  ];
  const readings = (await Promise.all(answers)).flat();
  if (readings.length > 0) return judged(readings);
  return [warning(what, 'nobody tells the time', 'compare the clock of this machine with another one')];
}

/** A clock that differs from ours while others agree with ours is wrong itself. */
export function judged(readings: readonly Reading[]): Finding[] {
  const nearest = readings.toSorted((a, b) => Math.abs(a.aheadMs) - Math.abs(b.aheadMs))[0] as Reading;
  if (Math.abs(nearest.aheadMs) > doubtfulMs) {
    const side = nearest.aheadMs > 0 ? 'behind' : 'ahead of';
    const found = `this machine is ${secondsOf(nearest)} s ${side} all ${readings.length} that tell the time`;
    const mark = Math.abs(nearest.aheadMs) > wrongMs ? failure : warning;
    return [mark(what, found, 'synchronise the clock of this machine (NTP)')];
  }
  const strays = readings.filter(({ aheadMs }) => Math.abs(aheadMs) > doubtfulMs + noiseMs);
  if (strays.length === 0) return [ok(what, `agrees with ${readings.map(({ name }) => name).join(', ')}`)];
  return strays.map((stray) => {
    const side = stray.aheadMs > 0 ? 'ahead of' : 'behind';
    const found = `the ${stray.name} is ${secondsOf(stray)} s ${side} this machine, with which the ${nearest.name} agrees`;
    return warning(what, found, 'its clock is wrong: tell who runs it');
  });
}

const secondsOf = ({ aheadMs }: Reading): number => Math.round(Math.abs(aheadMs) / 1000);

/** None without an answer. */
async function readingsOf(name: string, url: string): Promise<Reading[]> {
  const asked = Date.now();
  try {
    const { protocol, origin } = new URL(url);
    const options = { method: 'HEAD', agent: outboundAgent, signal: AbortSignal.timeout(answerMs) };
    const request = (protocol === 'https:' ? https : http).request(origin, options).on('error', () => undefined);
    const [response] = (await once(request.end(), 'response')) as [IncomingMessage];
    response.destroy();
    const told = Date.parse(response.headers.date ?? '');
    // The fraction of a second that is left out is half a second, on average.
    return Number.isNaN(told) ? [] : [{ name, aheadMs: told + 500 - (asked + Date.now()) / 2 }];
  } catch {
    return [];
  }
}
