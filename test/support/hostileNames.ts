import { settings } from './environment.ts';

/** Names that would mean something else if they got where they are aimed, and what is said of them. */

export const hostileObjectIds = ['../B', 'a/b', '%2f', '', '..', 'a\r\nb', '{aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa}'];
export const objectIdFault = 'must be a GUID';

const tooLong = 'm'.repeat(257);
export const hostileModels = [
  ...['../B', 'a/b', 'a\\b', '%2f', '', '.', '..', '..a', 'a\r\nb', 'a?b', 'a#b', '\ud800', tooLong],
];
export const modelFault =
  'must be a model definition identifier: 1 to 256 characters, no control characters or any of / \\ ? # %, neither . nor beginning with ..';

/** Targets that name nobody, and are copied all the same (P5). */
export const strangeTargets = ['/a', 'a/', '../x', 'a//b', '%2f ü'];
export const hostileTargets = ['a\u0000', 'a\r\nb'];
export const targetFault = 'must not have control characters';

/** What is said of a type in the body of an event that is no type reference. */
export function typeFault(type: unknown): string {
  if (type === undefined) return 'body.type is required';
  return `body.type must be a type ${typeof type === 'string' ? 'identifier, optionally with @ and a version' : 'reference'}`;
}

export const hostilePaths = [
  ...['..', '../d2', 'edge/..', './edge', 'edge//sensor-1', '/edge', 'edge/', 'a\u0000', 'a\r\nb'],
];
export const pathFault = 'must be identity names joined by /, without empty, . or .. names or control characters';

/** Ids that the principal manager must not answer with. */
export const hostilePrincipals = [
  '',
  '.',
  '..',
  '../B',
  'a/b',
  'a\\b',
  '%2e%2e',
  'a?b',
  'a#b',
  'a\r\nb',
  'p'.repeat(257),
];

/** A name that makes a URL as long as is allowed, or one byte longer; the last character takes six bytes of it. */
export function nameFilling(path: string, more = 0): string {
  const left = 8_192 + more - `${settings.backends.principalManagerUrl}${path}`.length;
  return `${'n'.repeat(left - 6)}ü`;
}
export const urlFault = 'too long: the URL of a backend call would have more than 8192 bytes';

/** Names of identities, and how each goes out as one query value. */
export const hostileIdentities = [
  ['../B', '..%2FB'],
  ['..', '..'],
  ['a/b', 'a%2Fb'],
  ['%2f', '%252f'],
  ['a//b', 'a%2F%2Fb'],
  ['s&path=edge', 's%26path%3Dedge'],
  ['s\r\n', 's%0D%0A'],
  ['ü ', '%C3%BC%20'],
] as const;

/** A name as it can stand in a row's title. */
export const shown = (name: string): string => JSON.stringify(name).slice(0, 40);
