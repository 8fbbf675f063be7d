import { type IncomingHttpHeaders, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { type Finding, failure, ok, warning } from 'telemetry/check/finding.ts';
import { outboundAgent } from 'telemetry/network/outbound.ts';
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

type Clocks = Pick<MethodsSettings, 'hub' | 'backends'>;

interface Reading {
  readonly name: string;
  /** How far its clock is ahead of ours. */
  readonly aheadMs: number;
}

/** Compares the clock of this machine with the `Date` of the hub and the backends. Asks for the headers of `/` only. */
export async function checkClock({ hub, backends }: Clocks, urls: BackendUrls): Promise<Finding[]> {
  const [, hostName = hub.hostName] = /(?:^|;)\s*HostName=([^;]+)/.exec(hub.serviceConnectionString) ?? [];
  const known: readonly (readonly [name: string, url: string])[] = [
    ['service endpoint', `https://${hostName}`],
    ...Object.entries(urls).map(([name, [url]]) => [backendNames[name as keyof BackendUrls], url] as const),
    ...(backends.tokenUrl === '' ? [] : [[backendNames.tokenEndpoint, backends.tokenUrl] as const]),
  ];
  const answers = await Promise.all(known.map(([name, url]) => readingOf(name, url)));
  const readings = answers.filter((reading) => reading !== undefined);
  if (readings.length === 0)
    return [warning(what, 'nobody tells the time', 'compare the clock of this machine with another one')];
  return judged(readings);
}

/** A clock that differs from ours while others agree with ours is wrong itself. */
export function judged(readings: readonly Reading[]): Finding[] {
  const nearest = readings.toSorted((a, b) => Math.abs(a.aheadMs) - Math.abs(b.aheadMs))[0] as Reading;
  if (Math.abs(nearest.aheadMs) > doubtfulMs) {
    const side = nearest.aheadMs > 0 ? 'behind' : 'ahead of';
    const found = `this machine is ${secondsOf(nearest)} s ${side} all ${readings.length} that tell the time`;
    const todo = 'synchronise the clock of this machine (NTP)';
    return [Math.abs(nearest.aheadMs) > wrongMs ? failure(what, found, todo) : warning(what, found, todo)];
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

async function readingOf(name: string, url: string): Promise<Reading | undefined> {
  const asked = Date.now();
  try {
    const { date = '' } = await headersOf(new URL(url).origin);
    const told = Date.parse(date);
    // The fraction of a second that is left out is half a second, on average.
    return Number.isNaN(told) ? undefined : { name, aheadMs: told + 500 - (asked + Date.now()) / 2 };
  } catch {
    return undefined;
  }
}

function headersOf(url: string): Promise<IncomingHttpHeaders> {
  const request = url.startsWith('https:') ? requestSecure : requestPlain;
  const options = { method: 'HEAD', agent: outboundAgent, signal: AbortSignal.timeout(answerMs) };
  return new Promise((resolve, reject) => {
    const asking = request(url, options, (response) => {
      resolve(response.headers);
      response.destroy();
    });
    asking.once('error', reject);
    asking.end();
  });
}
