import { createScrub } from '../log/scrub.ts';
import { printableJson } from '../text/printable.ts';
import { isSecretName, redactedJson } from './redactedJson.ts';
import type { Bodies } from './taps.ts';

const longestText = 2_000;
const mostMembers = 100;
const deepest = 4;

/**
 * Turns what is told about a message into a line of JSON, without secrets: known ones, what looks like one, and members
 * with such a name.
 * @param secrets known ones, of the settings
 */
export function createTapLines(secrets: readonly string[]): (event: object, bodies?: Bodies) => string {
  const scrub = createScrub(secrets);

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

  /** Cut after the scrubbing, too: a secret that is cut would not be recognised. */
  const shownText = (text: string) => scrub(text.slice(0, 2 * longestText)).slice(0, longestText);

  function shownBodies(bodies: Bodies) {
    const present = Object.entries(bodies).flatMap(([name, body]) =>
      body === undefined ? [] : [[name, body] as const],
    );
    return Object.fromEntries(present.map(([name, body]) => [name, redactedJson(body, scrub)]));
  }

  return (event, bodies = {}) =>
    `${printableJson(JSON.stringify({ ...(shown(event, 0) as object), ...shownBodies(bodies) }))}\n`;
}
