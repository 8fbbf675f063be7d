import { jsonToken } from 'telemetry/exactJson.ts';
import { printableJson } from 'telemetry/printable.ts';
import { createScrub } from 'telemetry/scrub.ts';
import { madeOf, type SecretList } from 'telemetry/secretList.ts';
import { coverSecrets, piecesOf, uncovered } from './secretPieces.ts';
import type { Bodies } from './taps.ts';

const longestText = 2_000;
const mostMembers = 100;
const deepest = 4;

/** @param token of the call, which is a secret, too */
type TapLine = (event: object, bodies?: Bodies, token?: string) => string;

/** Shorter ones would hide much that is no secret. */
const isTelling = (secret: string): boolean => secret.length >= 4;

/**
 * Turns what is told about a message into a line of JSON, without secrets: known ones, what looks like one, and members
 * with such a name.
 * @param secrets known ones, of the settings
 */
export function createTapLines(secrets: SecretList): TapLine {
  const scrub = createScrub([]);
  const known = madeOf(secrets, (list) => piecesOf(list.filter(isTelling)));
  /** Of the last call that had a token: the next one mostly has the same. */
  let ofCall = { token: '', pieces: piecesOf([]) };

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
  function clean(text: string): string {
    const covered = new Uint8Array(text.length);
    coverSecrets(text, known(), covered);
    coverSecrets(text, ofCall.pieces, covered);
    return scrub(uncovered(text, covered));
  }

  /** Cut after the scrubbing, too: a short secret that is cut would not be recognised. */
  const shownText = (text: string) => clean(text.slice(0, 2 * longestText)).slice(0, longestText);

  const shownBodies = (bodies: Bodies) =>
    Object.fromEntries(
      Object.entries(bodies).map(([name, body]) => [name, body === undefined ? body : redactedJson(body, clean)]),
    );

  return (event, bodies = {}, token = ofCall.token) => {
    if (token !== ofCall.token) ofCall = { token, pieces: piecesOf([token].filter(isTelling)) };
    return `${printableJson(JSON.stringify({ ...(shown(event, 0) as object), ...shownBodies(bodies) }))}\n`;
  };
}

/** Larger texts are not shown: they would have to be read whole to find what is secret in them. */
const mostBytes = 64 * 1024;

/** Members with such a name are hidden with all that is in them, rather too many than too few. */
const secretName = /key|secret|password|token|signature|credential|connectionstring|^sas$|^sig$/i;

/**
 * JSON as it was received or sent, without white space and without secrets; for anything else only its size. Numbers stay
 * as they are.
 * @param scrub removes secrets from a text
 */
export function redactedJson(content: string | Uint8Array, scrub: (text: string) => string): string {
  const bytes = typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength;
  if (bytes > mostBytes) return `[${bytes} bytes]`;
  const text = typeof content === 'string' ? content : Buffer.from(content).toString('utf8');
  try {
    JSON.parse(text);
  } catch {
    return `[${bytes} bytes, not JSON]`;
  }
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
