import type { Entry } from './entry.ts';
import type { Flow, Outcome } from './flows.ts';

const methodOf = (payload = ''): string | undefined => {
  const method = memberOf(payload, 'method');
  return typeof method === 'string' ? method : undefined;
};

function memberOf(text: string, name: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  } catch {
    return undefined;
  }
}

/** What a flow is called that begins with this entry. */
export function nameOf(entry: Entry): string {
  const { kind, properties = {}, server, method, path, methodName, payload, reason, address } = entry;
  switch (kind) {
    case 'd2c':
      return String(properties['action'] ?? properties['eventType'] ?? 'telemetry');
    case 'http-request':
      return `${server}: ${method} ${path}`;
    case 'method':
      return `method ${methodOf(payload) ?? methodName}`;
    case 'connected':
    case 'disconnected':
    case 'refused':
      return reason === undefined ? kind : `${kind}: ${reason}`;
    case 'receiver-opened':
    case 'receiver-closed':
      return `${kind}: ${address}`;
    default:
      return kind;
  }
}

/** Whether this is the acknowledgement of a message, which the hub has taken. */
export const acknowledges = ({ kind, refused, properties = {} }: Entry): boolean =>
  kind === 'c2d' &&
  refused === undefined &&
  (properties['msgType'] === 'ack' || properties['svc-messagetype'] === 'platformEventAck');

/** The outcome of a flow after one more entry. */
export function outcomeOf(flow: Flow, entry: Entry): Outcome {
  if (acknowledges(entry)) return ofAcknowledgement(entry);
  if (entry.kind === 'method') return ofMethod(entry);
  if (entry.kind !== 'd2c' || flow.what !== 'message') return flow.outcome;
  const { ack, msgType, 'svc-messagetype': ofEvent } = entry.properties ?? {};
  const isRequest = msgType === 'action' || ofEvent === 'platformEvent';
  if (!isRequest) return { is: 'none', text: '' };
  const asked = String(ack ?? '').toLowerCase();
  if (asked === 'all' || asked === 'full') return { is: 'waiting', text: 'waits' };
  return { is: 'none', text: asked === '' || asked === 'none' ? 'no answer asked' : `answer if ${asked}` };
}

function ofAcknowledgement({ text = '', properties = {} }: Entry): Outcome {
  if (properties['content-encoding'] !== undefined) return { is: 'none', text: 'answered, compressed' };
  const isDone = memberOf(text, 'success') === true;
  return { is: isDone ? 'ok' : 'failed', text: String(memberOf(text, 'code') ?? 'answered') };
}

function ofMethod({ status, refused }: Entry): Outcome {
  if (refused !== undefined) return { is: 'failed', text: String(refused) };
  return { is: (status ?? 500) < 300 ? 'ok' : 'failed', text: `status ${status}` };
}
