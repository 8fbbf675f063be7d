import { jsonToken } from '@device-messaging/telemetry/exactJson.ts';
import { createScrub, type SecretList } from '@device-messaging/telemetry/secrets.ts';
import { printableJson } from '@device-messaging/telemetry/text.ts';
import { jsonValue } from '../protocol/json.ts';
import { createCover } from './redaction.ts';

export type Stage = StageBefore | StageInWork;
type StageBefore = 'read' | 'invoked' | 'skipped' | 'gap' | 'waits' | 'begun' | 'decoded';
type StageInWork = 'attempt' | 'sent' | 'answer' | 'reply waits' | 'refused' | 'reply' | 'parked' | 'handled' | 'left';

type MessageRef = { readonly partition: string; readonly sequenceNumber: number } | { readonly correlationId: string };

export interface TapEvent extends Readonly<Record<string, unknown>> {
  readonly time: string;
  readonly stage: Stage;
  readonly device: string;
}

/** Publishes a stage to the followers of a device, `bodies` to those that asked for them. @param token of the call: an answer may repeat it */
export type Publish = (stage: Stage, fields: object, bodies?: Bodies, token?: string) => void;

export type Bodies = Readonly<Record<string, string | Uint8Array | undefined>>;

interface Follower {
  readonly device: string;
  follow(event: TapEvent, bodies: Bodies | undefined, token: string | undefined): void;
}

/** Each follower slows its device down. */
const most = 4;

export type Taps = ReturnType<typeof createTaps>;

export function createTaps() {
  const followers = new Set<Follower>();

  const publishTo =
    (some: readonly Follower[], place: MessageRef): Publish =>
    (stage, fields, bodies, token) => {
      const time = new Date().toISOString();
      for (const one of some) {
        if (!followers.has(one)) continue;
        try {
          one.follow({ time, stage, device: one.device, ...place, ...fields }, bodies, token);
        } catch {
          followers.delete(one); // a defect there ends the following, not the message
        }
      }
    };

  return {
    /** Undefined while the device has no follower, which costs next to nothing. */
    of(device: string, place: MessageRef): Publish | undefined {
      if (followers.size === 0) return undefined;
      const own = [...followers].filter((one) => one.device === device);
      return own.length === 0 ? undefined : publishTo(own, place);
    },
    /** The same for an event of a whole partition, whose device is not known: all followers get it. */
    all: (place: MessageRef) => (followers.size === 0 ? undefined : publishTo([...followers], place)),
    /** @returns undefined when too many follow already; else a function that ends it */
    open(follower: Follower): (() => void) | undefined {
      if (followers.size >= most) return undefined;
      followers.add(follower);
      return () => followers.delete(follower);
    },
  };
}

const longestText = 2_000;
const mostMembers = 100;
const deepest = 4;

/** Turns what is told about a message into a line of JSON without secrets: those of the settings, what looks like one, members with such a name. */
export function createTapLines(secrets: SecretList) {
  const scrub = createScrub([]);
  /** Shorter ones would hide much that is no secret. */
  const cover = createCover(secrets, ({ length }) => length >= 4);
  /** Of the last call that had one. */
  let latest = '';

  function shown(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return shownText(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth === deepest) return '…';
    if (Array.isArray(value)) return value.slice(0, mostMembers).map((one) => shown(one, depth + 1));
    const members = Object.entries(value).slice(0, mostMembers);
    return Object.fromEntries(
      members.map(([name, one]) => [shownText(name), secretName.test(name) ? '…' : shown(one, depth + 1)]),
    );
  }

  /** Secrets in any of their encodings, then what looks like one. */
  const clean = (text: string): string => scrub(cover(text, latest));

  /** Cut after the scrubbing, too: a short secret that is cut would not be recognised. */
  const shownText = (text: string) => clean(text.slice(0, 2 * longestText)).slice(0, longestText);

  /** @param token of the call, which is a secret, too */
  return (event: object, bodies: Bodies = {}, token = latest): string => {
    latest = token;
    const line = { ...Object(shown(event, 0)) };
    for (const [name, body] of Object.entries(bodies))
      line[name] = body === undefined ? body : redactedJson(body, clean);
    return `${printableJson(JSON.stringify(line))}\n`;
  };
}

/** Larger texts are not shown: they would have to be read whole to find what is secret in them. */
const mostBytes = 64 * 1024;

/** Members with such a name are hidden with all that is in them, rather too many than too few. */
const secretName = /key|secret|password|token|signature|credential|connectionstring|^sas$|^sig$/i;

/** JSON without white space and without secrets; for anything else only its size. Numbers stay as they are. @param scrub removes secrets from a text */
export function redactedJson(content: string | Uint8Array, scrub: (text: string) => string): string {
  const bytes = typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength;
  if (bytes > mostBytes) return `[${bytes} bytes]`;
  const text = typeof content === 'string' ? content : Buffer.from(content).toString('utf8');
  if (jsonValue(text) === undefined) return `[${bytes} bytes, not JSON]`;
  let shown = '';
  let depth = 0;
  /** The depth at which the hidden value stands; undefined while nothing is hidden. */
  let hiddenAt: number | undefined;
  for (const token of text.match(jsonToken) ?? []) {
    if (token === '}' || token === ']') depth -= 1;
    // A hidden value ends before the comma or the bracket that follows it on its level.
    if (hiddenAt !== undefined && ((token === ',' && depth === hiddenAt) || depth < hiddenAt)) hiddenAt = undefined;
    if (token === '{' || token === '[') depth += 1;
    if (hiddenAt !== undefined) continue;
    const literal = token.slice(0, token.lastIndexOf('"') + 1);
    shown += literal === '' ? token : scrubbed(literal, scrub);
    if (!token.endsWith(':')) continue;
    shown += ':';
    if (!secretName.test(JSON.parse(literal))) continue;
    shown += '"…"';
    hiddenAt = depth;
  }
  return shown;
}

function scrubbed(literal: string, scrub: (text: string) => string): string {
  const text: string = JSON.parse(literal);
  const clean = scrub(text);
  return clean === text ? literal : JSON.stringify(clean);
}
