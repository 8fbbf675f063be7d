import { type Entry, timeOf } from './entry.ts';
import { acknowledges, nameOf, outcomeOf } from './outcome.ts';

/** What belongs together: a message with the calls and replies that it causes, an invocation, or an event of its own. */
export interface Flow {
  /** Position of its first entry. */
  readonly id: number;
  readonly what: 'message' | 'invocation' | 'event';
  device: string;
  /** The action, the event type, the method, or what happened. */
  name: string;
  readonly correlationId: string | undefined;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly entries: Entry[];
  outcome: Outcome;
  /** Until the outcome. */
  tookMs: number | undefined;
  /** A fault struck one of its steps. */
  isStruck: boolean;
}

export interface Outcome {
  readonly is: 'waiting' | 'ok' | 'failed' | 'none';
  readonly text: string;
}

/** Sorts entries of a journal into flows, as they come. */
export interface Flows {
  add(entry: Entry): void;
  /** The oldest first. */
  list(): readonly Flow[];
  /** The entries about the connections of a device, the oldest first. */
  connections(device: string): readonly Entry[];
  clear(): void;
}

/** Flows that are kept; the oldest go. */
const most = 20_000;
/** Connections, disconnections and refusals that are kept of one device. */
const mostConnections = 100;

const starts = new Set(['d2c', 'http-request', 'method']);

export function createFlows(): Flows {
  let flows: Flow[] = [];
  /** The latest flow of a device and a correlation id, and of a correlation id alone. */
  const latest = new Map<string, Flow>();
  const byCall = new Map<number, Flow>();
  const byMessage = new Map<string, Flow>();
  const connections = new Map<string, Entry[]>();

  const keyOf = (device: string | undefined, correlationId: string) => JSON.stringify([device ?? '', correlationId]);

  function known({ deviceId, correlationId, request, messageId }: Entry): Flow | undefined {
    if (request !== undefined) return byCall.get(request);
    if (correlationId !== undefined) {
      const found = latest.get(keyOf(deviceId, correlationId)) ?? latest.get(keyOf(undefined, correlationId));
      if (found) return found;
    }
    return messageId === undefined ? undefined : byMessage.get(messageId);
  }

  function begin(entry: Entry): Flow {
    const { kind, position, deviceId = '', correlationId } = entry;
    const isInvocation = starts.has(kind) && kind !== 'd2c' && correlationId !== undefined;
    const what = kind === 'd2c' ? 'message' : isInvocation ? 'invocation' : 'event';
    const flow: Flow = {
      ...{
        id: position,
        what,
        device: deviceId,
        name: isInvocation ? 'invocation' : nameOf(entry),
        correlationId,
        at: timeOf(entry),
        entries: [],
      },
      ...{ outcome: { is: 'none', text: '' }, tookMs: undefined, isStruck: false },
    };
    flows.push(flow);
    if (flows.length > most * 1.1) forget();
    if (correlationId === undefined) return flow;
    latest.set(keyOf(undefined, correlationId), flow);
    if (deviceId !== '') latest.set(keyOf(deviceId, correlationId), flow);
    return flow;
  }

  function forget(): void {
    const gone = new Set(flows.slice(0, flows.length - most));
    flows = flows.slice(-most);
    for (const map of [latest, byCall, byMessage])
      for (const [key, flow] of map) if (gone.has(flow)) (map as Map<unknown, Flow>).delete(key);
  }

  function noteConnection(entry: Entry): void {
    const { kind, deviceId } = entry;
    if (deviceId === undefined || !/^(connected|disconnected|refused)$/.test(kind)) return;
    const noted = connections.get(deviceId) ?? [];
    connections.set(deviceId, [...noted, entry].slice(-mostConnections));
  }

  return {
    add(entry) {
      const flow = (entry.kind === 'd2c' ? undefined : known(entry)) ?? begin(entry);
      flow.entries.push(slim(entry));
      if (entry.kind === 'http-request') byCall.set(entry.position, flow);
      if (entry.kind === 'http-response') byCall.delete(entry.request ?? 0);
      if (entry.kind === 'c2d' && entry.system?.['messageId']) byMessage.set(entry.system['messageId'], flow);
      if (entry.kind === 'c2d-settled' && entry.messageId) byMessage.delete(entry.messageId);
      noteConnection(entry);
      if (entry.fault !== undefined || entry.kind === 'c2d-fault') flow.isStruck = true;
      if (entry.kind === 'method') {
        flow.device ||= entry.deviceId ?? '';
        flow.name = nameOf(entry);
      }
      flow.outcome = outcomeOf(flow, entry);
      if (flow.tookMs === undefined && (acknowledges(entry) || entry.kind === 'method'))
        flow.tookMs = timeOf(entry) - flow.at;
    },
    list: () => flows,
    connections: (device) => connections.get(device) ?? [],
    clear() {
      flows = [];
      for (const map of [latest, byCall, byMessage, connections]) map.clear();
    },
  };
}

/** A message's bytes are kept once. */
function slim(entry: Entry): Entry {
  if (entry.text === undefined) return entry;
  const { body: _, ...rest } = entry;
  return rest;
}
