import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import type { EntryOf } from 'iot-hub-emulator/journal';
import { encodeDeviceEvent } from 'iot-hub-emulator/testing';
import type { BackendCall } from '../../sandbox/backends/calls/calls.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { checkHeaders } from './generate.ts';
import { handle } from './model/messages.ts';
import type { Answer, Call, Expected, Reply, Sent, Step } from './model/steps.ts';

/** Makes a device known to the hub, and to the principal manager with two identities below it. */
export async function register({ hub, backends }: Sandbox, deviceId: string): Promise<void> {
  hub.registry.create(deviceId, {});
  const response = await fetch(new URL('/devices', backends.adminUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ deviceId, children: ['edge', 'edge/mine'] }),
  });
  if (!response.ok) throw new Error(`the principal manager does not take ${deviceId}: ${await response.text()}`);
}

/** As the hub takes a message of a device: all of a device go to one partition, in this order. */
export function send({ hub }: Sandbox, deviceId: string, place: number, messages: readonly Sent[]): void {
  const identity = hub.registry.get(deviceId);
  const partition = hub.partitions[place % hub.partitions.length];
  if (identity === undefined || partition === undefined) throw new Error(`the hub has no device ${deviceId}`);
  const login = { identity, authMethod: '{"scope":"device","type":"sas","issuer":"iothub"}', expiresAt: 0 };
  for (const { properties, body } of messages)
    partition.append((at) => encodeDeviceEvent(login, { system: {}, properties: { ...properties }, body }, at));
}

/** Resolves when each device has got a reply with this correlation id. */
export function answered({ hub }: Sandbox, deviceIds: readonly string[], correlationId: string): Promise<void> {
  const left = new Set(deviceIds);
  return new Promise((resolve) => {
    const end = hub.journal.watch((entry) => {
      if (entry.kind !== 'c2d' || entry.correlationId !== correlationId) return;
      left.delete(entry.deviceId);
      if (left.size > 0) return;
      end();
      resolve();
    });
  });
}

/** What the service did for one device, in order: what it asked backends, and what it sent. */
type Seen =
  | { readonly kind: 'call'; readonly call: SeenCall }
  | { readonly kind: 'reply'; readonly reply: EntryOf<'c2d'> };

export interface SeenCall extends BackendCall {
  readonly segments: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

export function seenBy(
  sandbox: Sandbox,
  deviceIds: readonly string[],
): { courses: Map<string, Seen[]>; calls: SeenCall[] } {
  const { journal } = sandbox.hub;
  if (journal.first !== 1) throw new Error('the journal is too small for so many messages');
  const calls = sandbox.backends
    .calls()
    .filter(({ backend }) => backend !== 'token')
    .map(parsed);
  const all = [
    ...calls.map((call) => ({
      ...{ deviceId: call.deviceId, position: call.position, seen: { kind: 'call' as const, call } },
    })),
    ...journal.list({ kind: 'c2d' }).map((reply) => ({
      ...{ deviceId: reply.deviceId, position: reply.position },
      seen: { kind: 'reply' as const, reply },
    })),
  ].sort((one, other) => one.position - other.position);
  const courses = new Map<string, Seen[]>(deviceIds.map((id) => [id, []]));
  for (const { deviceId, seen } of all) courses.get(deviceId ?? '')?.push(seen);
  return { courses, calls };
}

function parsed(call: BackendCall): SeenCall {
  const [path = '', query = ''] = call.path.split('?');
  return {
    ...call,
    segments: path.split('/').slice(1).map(decodeURIComponent),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Compares all that a device sees of a message with what it should; throws with the first difference. */
function compareReply(wanted: Reply, seen: EntryOf<'c2d'>): void {
  const { system, properties, deviceId, body, refused } = seen;
  same('device', wanted.deviceId, deviceId);
  if (refused !== undefined) throw new Error(`the hub refused a reply: ${refused.description}`);
  const { messageId, correlationId, contentType, contentEncoding, to: _, ...others } = system;
  same('system message id', uuid, messageId);
  same('system correlation id', wanted.correlationId, correlationId);
  same('system content type', wanted.isCompressed ? 'text/plain' : 'application/json', contentType);
  same('system content encoding', 'utf-8', contentEncoding);
  if (Object.keys(others).length > 0) throw new Error(`further system properties: ${Object.keys(others)}`);

  const all = { ...wanted.properties, ...(wanted.isCompressed && { 'content-encoding': 'gzip' }) };
  // P4: a reply has no property without a value.
  const expected = Object.fromEntries(Object.entries<Expected>(all).filter(([, value]) => value !== ''));
  for (const name of new Set([...Object.keys(expected), ...Object.keys(properties)]))
    same(`property ${name}`, expected[name], properties[name]);

  const text = wanted.isCompressed ? gunzipSync(Buffer.from(body.toString(), 'base64')).toString() : body.toString();
  if ('text' in wanted.body) {
    same('body', wanted.body.text, text);
    return;
  }
  const value = JSON.parse(text);
  for (const name of new Set([...Object.keys(wanted.body.value), ...Object.keys(value)])) {
    const part = wanted.body.value[name];
    if (part instanceof RegExp) same(`body.${name}`, part, value[name]);
    else same(`body.${name}`, JSON.stringify(part), JSON.stringify(value[name]));
  }
  const details = String(value.details ?? value.detail);
  const missing = wanted.body.mentions.filter((word) => !details.includes(word));
  if (missing.length > 0) throw new Error(`details do not mention ${missing}: ${details}`);
}

function same(what: string, wanted: Expected | undefined, seen: string | undefined): void {
  const isSame =
    wanted instanceof RegExp
      ? seen !== undefined && wanted.test(seen)
      : typeof wanted === 'object'
        ? seen === undefined || seen === wanted.either
        : seen === wanted;
  if (!isSame) throw new Error(`${what} is ${seen} instead of ${JSON.stringify(wanted) ?? 'absent'} ${wanted ?? ''}`);
}

/** Where the service did something else than the model. */
class Difference extends Error {}

/** Walks through what was done for a device, message by message; throws `Difference` at the first that is not as it should be. */
export function follow(
  deviceId: string,
  messages: readonly Sent[],
  observation: readonly Seen[],
  calls: readonly SeenCall[],
): void {
  const left = [...observation];
  messages.forEach((sent, index) => {
    const own: SeenCall[] = [];
    let step: Step | undefined;
    try {
      const handling = handle(sent, deviceId);
      for (let next = handling.next({ status: 0, body: '' }); !next.done; next = handling.next(take(next.value)))
        step = next.value;
      checkHeaders(sent, deviceId, own);
    } catch (error) {
      const place = [
        `message ${index} of ${deviceId}: ${describe(sent)}`,
        ...own.map(briefCall),
        print(step),
        'seen next:',
        ...left.slice(0, 3).map(brief),
      ];
      throw new Difference(`${error instanceof Error ? error.message : error}\n${place.join('\n')}`);
    }

    function take(wanted: Step): Answer {
      step = wanted;
      const at = indexOf(wanted);
      if ('reply' in wanted) {
        const [seen] = left.splice(at, 1);
        if (seen?.kind !== 'reply') throw new Error('a reply is missing');
        compareReply(wanted.reply, seen.reply);
        return { status: 0, body: '' };
      }
      const seen = left[at];
      if (seen?.kind === 'call' && isThat(wanted.call, seen.call)) {
        left.splice(at, 1);
        own.push(seen.call);
        return answerOf(seen.call);
      }
      const known = wanted.isKnown ? calls.findLast((call) => isThat(wanted.call, call)) : undefined;
      if (known === undefined) throw new Error('a call is missing, or is another one');
      return answerOf(known);
    }
  });
  if (left.length > 0) throw new Difference(`${deviceId}: more was done: ${left.map(brief).join('\n')}`);

  /** Where it is: next, or further on among its kind when they have no order. */
  function indexOf(wanted: Step): number {
    if (!wanted.isUnordered) return 0;
    const kind = 'reply' in wanted ? 'reply' : 'call';
    const end = left.findIndex((seen) => seen.kind !== kind);
    const some = left.slice(0, end < 0 ? left.length : end);
    return Math.max(
      0,
      some.findIndex((seen) => isMeant(wanted, seen)),
    );
  }
}

function isMeant(wanted: Step, seen: Seen): boolean {
  if ('call' in wanted) return seen.kind === 'call' && isThat(wanted.call, seen.call);
  const { body } = wanted.reply;
  return seen.kind === 'reply' && 'text' in body && seen.reply.body.toString() === body.text;
}

function isThat(wanted: Call, { method, segments, query, body }: SeenCall): boolean {
  const isSame = (text: string | RegExp, index: number) =>
    typeof text === 'string' ? text === segments[index] : text.test(segments[index] ?? '');
  return (
    method === wanted.method &&
    segments.length === wanted.path.length &&
    wanted.path.every(isSame) &&
    isDeepStrictEqual(query, wanted.query ?? {}) &&
    (typeof wanted.body === 'function' ? wanted.body(body) : body === (wanted.body ?? ''))
  );
}

function answerOf({ status, answer }: SeenCall): Answer {
  if (status === null) throw new Error('a backend gave no answer');
  return { status, body: answer ?? '' };
}

const print = (value: unknown): string =>
  (
    JSON.stringify(value, (_, one) => (one instanceof RegExp || typeof one === 'function' ? String(one) : one)) ?? ''
  ).slice(0, 1000);
const cut = (text: string | null): string => (text ?? '').slice(0, 400);
const describe = ({ properties, body }: Sent): string => `${print(properties)} ${cut(body.toString())}`;
const briefCall = ({ method, path, body, status, answer }: SeenCall): string =>
  `  ${method} ${path} ${cut(body)} → ${status} ${cut(answer)}`;
const brief = (seen: Seen): string =>
  seen.kind === 'call' ? briefCall(seen.call) : `  ${print(seen.reply.properties)} ${cut(seen.reply.body.toString())}`;
