import { correlationForm } from './correlation.ts';
import { failures } from './failure.ts';

/** What the front door reads and answers, as JSON schemas: the server validates with them, the contract shows them. */

/** The hub's own range (M3). */
export const timeoutRange = { least: 5, most: 300, usual: 30 } as const;

/** Body of an invocation (M3). `input` is checked against the method's declaration, which no schema knows. */
export const invocation = {
  type: 'object',
  description: 'What to invoke the method with. No other members.',
  properties: {
    input: {
      type: 'object',
      description:
        'Input name to value. Each must be declared by the method and fit its data type; declared ones may be left out. ' +
        'An integer lies within ±(2^53−1). Of a `file`, the value is its name in the storage.',
      additionalProperties: true,
    },
    timeout: {
      type: 'integer',
      description: `Seconds that the device has to answer; default ${timeoutRange.usual}. Looking things up beforehand may take ten more.`,
      minimum: timeoutRange.least,
      maximum: timeoutRange.most,
    },
  },
  additionalProperties: false,
} as const;

export interface Invocation {
  readonly input?: Readonly<Record<string, unknown>>;
  readonly timeout?: number;
}

/** Body of an answer to a method that was invoked (M7). */
export const result = {
  type: 'object',
  description: 'What the method answered.',
  properties: {
    status: {
      type: 'integer',
      description: "The method's own status; what it means is between application and module.",
    },
    output: { type: 'object', description: 'What the method answered; absent when it answered nothing.' },
  },
  required: ['status'],
  additionalProperties: false,
} as const;

/** Body of a failure. */
export const errors = {
  type: 'object',
  properties: {
    errors: {
      type: 'array',
      minItems: 1,
      maxItems: 1,
      items: {
        type: 'object',
        properties: {
          code: { type: 'string', description: 'The HTTP status.', pattern: '^[45]\\d\\d$' },
          title: { type: 'string' },
          detail: { type: 'string', description: 'A sentence that says what to do.', maxLength: 1000 },
          id: { type: 'string', description: 'The correlation id.', pattern: correlationForm.source },
          meta: {
            type: 'object',
            properties: { reason: { type: 'string', enum: Object.keys(failures) } },
            required: ['reason'],
            additionalProperties: false,
          },
        },
        required: ['code', 'title', 'detail', 'id', 'meta'],
        additionalProperties: false,
      },
    },
  },
  required: ['errors'],
  additionalProperties: false,
} as const;
