import { z } from 'zod';
import { faultSchema } from './faults.ts';

/** A kind of fault, for people and forms. */
interface BackendFaultKind {
  readonly kind: string;
  readonly happens: 'until cleared';
  readonly what: string;
  /** JSON Schema. */
  readonly schema: object;
}

type Member = keyof typeof faultSchema.shape;

/** Which calls, and how many of them. */
const which: readonly Member[] = ['deviceId', 'method', 'path', 'times'];

const about: Readonly<Partial<Record<Member, string>>> = {
  backend: 'whose calls',
  deviceId: 'only calls for this device; any when absent',
  method: 'only this method; any when absent',
  path: 'only this path, without its query; * is any segment, a last ** any rest',
  times: 'how many calls it strikes; until it is cleared when absent',
  delayMs: 'milliseconds',
  status: 'HTTP status',
  headers: 'further headers, such as retry-after',
};

/** What there is, as the members that make it: those of the second list may be given. */
const kinds: readonly (readonly [what: string, needed: readonly Member[], more: readonly Member[]])[] = [
  ['A backend answers with an error, and nothing happens.', ['status'], ['headers', 'delayMs']],
  ['A backend is slow.', ['delayMs'], []],
  ['A backend never answers, and nothing happens.', ['hang'], []],
  ['A backend answers with a text that is not JSON.', ['garbage'], ['status']],
  ['The connection is reset: before the effect, after it, or in the middle of the answer.', ['reset'], []],
  ['The effect happens, and the answer is lost.', ['lostAnswer'], []],
];

/** Everything that can go wrong with calls to backends, on demand. */
export function backendFaultKinds(): BackendFaultKind[] {
  const { properties = {} } = z.toJSONSchema(faultSchema, { io: 'input' });
  return kinds.map(([what, needed, more]) => {
    const members = ['backend', ...needed, ...more, ...which] as const;
    const fields = members.map((name) => {
      const { description: _, ...schema } = Object(properties[name]);
      const isFlag = schema.type === 'boolean';
      return [name, { ...schema, ...(isFlag && { const: true }), description: about[name] ?? '' }];
    });
    const schema = { type: 'object', properties: Object.fromEntries(fields), required: ['backend', ...needed] };
    return { kind: needed.join(), happens: 'until cleared', what, schema };
  });
}
