import { isDeepStrictEqual } from 'node:util';
import type { Answer } from './client.ts';

/** The rule does not hold; the message says how. */
export class Broken extends Error {
  readonly answer: Answer | undefined;
  constructor(message: string, answer?: Answer) {
    super(message);
    this.answer = answer;
  }
}

/** The rule cannot be tried; the message says why. */
export class NotTried extends Error {}
/** Because of the backends, not of what was given. */
export class Blocked extends NotTried {}

/** A member of the answer: `data.0.id`. */
export function at({ json }: Answer, path: string): unknown {
  let value = json;
  for (const name of path.split('.'))
    value =
      typeof value === 'object' && value !== null
        ? Object.entries(value).find(([key]) => key === name)?.[1]
        : undefined;
  return value;
}

/** The elements of `data`. @throws Broken if there is no such list */
export function dataOf(answer: Answer): unknown[] {
  const data = at(answer, 'data');
  if (!Array.isArray(data)) throw new Broken(`${shown(answer)} was answered without a list \`data\``, answer);
  return data;
}

const shown = ({ request: { method, path } }: Answer) => `${method} ${path.split('?', 1)[0]}`;

/** Members to find: by path, the value, or a check of it with words for what it expects. */
type Members = Readonly<Record<string, unknown>>;
export class Like {
  readonly words: string;
  readonly fits: (value: unknown) => boolean;
  constructor(words: string, fits: (value: unknown) => boolean) {
    this.words = words;
    this.fits = fits;
  }
}
export const aText = new Like('a text', (value) => typeof value === 'string' && value !== '');
export const anyText = new Like('a text', (value) => typeof value === 'string');
export const anObject = new Like(
  'an object',
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);
export const absent = new Like('absent', (value) => value === undefined);
export const aGuid = new Like('a GUID', (value) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(String(value)));
export const listOf = (length: number) =>
  new Like(`a list of ${length}`, (value) => Array.isArray(value) && value.length === length);
export const equalId = (id: string) => new Like(id, (value) => String(value).toLowerCase() === id.toLowerCase());

/** @throws Broken unless the answer has one of the statuses, and the members */
export function expect(answer: Answer, statuses: number | readonly number[], members: Members = {}): Answer {
  const { status, failure } = answer;
  if (failure !== undefined) throw new Broken(`${shown(answer)} was not answered: ${failure}`, answer);
  const wanted = [statuses].flat();
  if (!wanted.includes(status))
    throw new Broken(`${shown(answer)} was answered with ${status}, not ${wanted.join(' or ')}`, answer);
  for (const [path, value] of Object.entries(members)) {
    const found = at(answer, path);
    const [fits, words] =
      value instanceof Like
        ? [value.fits(found), value.words]
        : [isDeepStrictEqual(found, value), brief(JSON.stringify(value))];
    if (!fits)
      throw new Broken(
        `in the answer to ${shown(answer)}, \`${path}\` is ${brief(JSON.stringify(found) ?? 'missing')}, not ${words}`,
        answer,
      );
  }
  return answer;
}

const brief = (text: string) => (text.length > 100 ? `${text.slice(0, 100)}…` : text);

/** JSON without white space between its tokens; the tokens are what they were. */
const compact = (json: string): string => (json.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? []).join('');

/** @throws Broken unless the answer has these characters, white space between tokens aside */
export function says(answer: Answer, characters: string): void {
  if (compact(answer.text).includes(characters)) return;
  throw new Broken(`the answer to ${shown(answer)} does not have \`${brief(characters)}\` as it was sent`, answer);
}
