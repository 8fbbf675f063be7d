import { printableJson } from 'telemetry/printable.ts';
import { createScrub } from 'telemetry/scrub.ts';
import { madeOf, type SecretList } from 'telemetry/secretList.ts';
import { coverSecrets, piecesOf, uncovered } from '../text/secretPieces.ts';
import { isSecretName, redactedJson } from './redactedJson.ts';
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
      members.map(([name, one]) => [shownText(name), isSecretName(name) ? '…' : shown(one, depth + 1)]),
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

  function shownBodies(bodies: Bodies) {
    const present = Object.entries(bodies).flatMap(([name, body]) =>
      body === undefined ? [] : [[name, body] as const],
    );
    return Object.fromEntries(present.map(([name, body]) => [name, redactedJson(body, clean)]));
  }

  return (event, bodies = {}, token = ofCall.token) => {
    if (token !== ofCall.token) ofCall = { token, pieces: piecesOf([token].filter(isTelling)) };
    return `${printableJson(JSON.stringify({ ...(shown(event, 0) as object), ...shownBodies(bodies) }))}\n`;
  };
}
