import { type Entry, timeOf } from './entry.ts';
import type { Flow } from './flows.ts';

/** Who takes part in a flow. */
export type Lane = 'device' | 'hub' | 'service' | 'informationModel' | 'typeRegistry' | 'principalManager' | 'token';

export const laneNames: Readonly<Record<Lane, string>> = {
  device: 'device',
  hub: 'hub',
  service: 'service',
  informationModel: 'information model',
  typeRegistry: 'type registry',
  principalManager: 'principal manager',
  token: 'token endpoint',
};

/** One line of the picture of a flow: an arrow between two lanes, or a remark. */
export interface Step {
  readonly from?: Lane;
  readonly to?: Lane;
  readonly label: string;
  /** Milliseconds since the flow began. */
  readonly atMs: number;
  readonly is: 'sent' | 'answered' | 'failed' | 'lost' | 'waited' | 'struck';
  /** What was said. */
  readonly entry?: Entry;
}

/** Shorter pauses are no wait. */
const leastWaitMs = 100;

const backendLanes: ReadonlySet<string> = new Set(['informationModel', 'typeRegistry', 'principalManager', 'token']);
const laneOf = (server = ''): Lane => (backendLanes.has(server) ? (server as Lane) : 'service');

const mayBeRepeated = (status: number | null | undefined) => status === null || status === 429 || (status ?? 0) >= 500;

/**
 * The picture of a flow: device → hub → service → each call → replies, with times, retries, waits and losses.
 * @param connections of its device
 */
export function stepsOf(flow: Flow, connections: readonly Entry[]): Step[] {
  const last = Math.max(...flow.entries.map(timeOf));
  const own = new Set(flow.entries.map(({ position }) => position));
  const between = connections.filter(
    (entry) => !own.has(entry.position) && timeOf(entry) >= flow.at && timeOf(entry) <= last,
  );
  const entries = [...flow.entries, ...between].sort((one, other) => one.position - other.position);
  const requests = new Map<number, Entry>();
  /** Attempts of the same call so far; those before ended without a result. */
  const attempts = new Map<string, number>();
  const steps: Step[] = [];
  let before = flow.at;
  let underWay = 0;

  for (const entry of entries) {
    const at = timeOf(entry);
    const atMs = at - flow.at;
    const waitedMs = at - before;
    if (underWay === 0 && waitedMs >= leastWaitMs && isOfService(entry)) {
      steps.push({ from: 'service', label: `nothing for ${shownMs(waitedMs)}`, atMs: before - flow.at, is: 'waited' });
    }
    before = at;
    if (entry.kind === 'http-request') {
      requests.set(entry.position, entry);
      underWay += 1;
      const attempt = (attempts.get(callOf(entry)) ?? 0) + 1;
      steps.push({
        ...{
          from: 'service',
          to: laneOf(entry.server),
          label: `${attempt > 1 ? `attempt ${attempt}: ` : ''}${entry.method} ${entry.path}`,
        },
        ...{ atMs, is: 'sent', entry },
      });
      if (entry.fault !== undefined)
        steps.push({ from: laneOf(entry.server), label: `${entry.fault} strikes`, atMs, is: 'struck' });
    } else if (entry.kind === 'http-response') {
      underWay -= 1;
      const request = requests.get(entry.request ?? 0);
      const took = request ? ` after ${shownMs(at - timeOf(request))}` : '';
      const isFailed = mayBeRepeated(entry.status);
      if (request) attempts.set(callOf(request), isFailed ? (attempts.get(callOf(request)) ?? 0) + 1 : 0);
      steps.push({
        ...{ from: laneOf(entry.server), to: 'service' },
        label: entry.status === null ? `no answer${took}` : `${entry.status}${took}`,
        ...{ atMs, is: entry.status === null ? 'lost' : isFailed ? 'failed' : 'answered', entry },
      });
    } else steps.push(...otherSteps(entry, flow, atMs));
  }
  return steps;
}

const isOfService = ({ kind }: Entry): boolean => ['http-request', 'c2d', 'method'].includes(kind);

const callOf = ({ server, method, path }: Entry): string => `${server} ${method} ${path}`;

function otherSteps(entry: Entry, { name, what }: Flow, atMs: number): Step[] {
  const { kind, properties = {}, refused, outcome, answer, status } = entry;
  const common = { atMs, entry };
  switch (kind) {
    case 'd2c': {
      const toService: Step = { from: 'hub', to: 'service', label: 'event', atMs, is: 'sent' };
      const isRead = properties['msgType'] !== undefined || properties['svc-messagetype'] !== undefined;
      return [{ ...common, from: 'device', to: 'hub', label: name, is: 'sent' }, ...(isRead ? [toService] : [])];
    }
    case 'c2d': {
      const what = String(properties['msgType'] ?? properties['svc-messagetype'] ?? 'message');
      if (refused === undefined) return [{ ...common, from: 'service', to: 'hub', label: what, is: 'answered' }];
      const why = typeof refused === 'string' ? refused : refused.description;
      return [{ ...common, from: 'service', to: 'hub', label: `${what} refused: ${why}`, is: 'failed' }];
    }
    case 'c2d-delivered':
      return [{ ...common, from: 'hub', to: 'device', label: 'delivered', is: 'answered' }];
    case 'c2d-settled': {
      const isTaken = outcome === 'completed';
      return [{ ...common, from: 'device', to: 'hub', label: `${outcome}`, is: isTaken ? 'answered' : 'lost' }];
    }
    case 'c2d-fault':
      return [{ ...common, from: 'hub', label: `a fault: the service is told ${answer}`, is: 'struck' }];
    case 'method': {
      const isDone = refused === undefined;
      return [
        { ...common, from: 'service', to: 'hub', label: `calls ${name}`, is: 'sent' },
        {
          ...{ ...common, from: isDone ? 'device' : 'hub', to: 'service' },
          label: isDone ? `status ${status}` : `refused: ${String(refused)}`,
          is: isDone ? 'answered' : 'failed',
        },
      ];
    }
    case 'disconnected':
      return [{ ...common, from: 'device', label: `the connection ends: ${entry.reason}`, is: 'lost' }];
    case 'connected':
      return [{ ...common, from: 'device', to: 'hub', label: `connects (${entry.protocol})`, is: 'sent' }];
    case 'refused':
      return [{ ...common, from: 'hub', label: `refuses the connection: ${entry.reason}`, is: 'failed' }];
    default:
      return [{ ...common, from: what === 'event' ? 'hub' : 'service', label: kind, is: 'sent' }];
  }
}

/** The lanes that take part, in the order of a message's way. */
export function lanesOf(steps: readonly Step[]): Lane[] {
  const used = new Set(steps.flatMap(({ from, to }) => [from, to]));
  return (Object.keys(laneNames) as Lane[]).filter((lane) => used.has(lane));
}

/** A duration for people. */
export function shownMs(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}
