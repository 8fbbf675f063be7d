import { effects, failures } from '../protocol/vocabulary.ts';
import { correlationForm } from './correlation.ts';

// JSON schemas of requests and responses, for validation and for the contract.

/** In seconds; the range is that of the hub (M3). */
export const timeoutRange = { min: 5, max: 300, default: 30 } as const;

export const timeoutRule = `timeout must be whole seconds from ${timeoutRange.min} to ${timeoutRange.max}`;

/** Body of an invocation (M3). `input` is checked later against the declaration of the method. */
export const invocation = {
  type: 'object',
  description: 'Input and time-out of the invocation. No other members are allowed.',
  properties: {
    input: {
      type: 'object',
      description:
        'Values by input name. The method must declare each input, and the value must fit its data type; inputs are optional. ' +
        'An integer is within ±(2^53−1). What cannot be carried exactly is refused: repeated keys, numbers that overflow, ' +
        'become 0 or become another whole number, half surrogate pairs. The value of a `file` is its name in the storage.',
      additionalProperties: true,
    },
    timeout: {
      type: 'integer',
      description: `Time-out for the response of the device in seconds; default ${timeoutRange.default}. Look-ups before may take ten more.`,
      minimum: timeoutRange.min,
      maximum: timeoutRange.max,
    },
  },
  additionalProperties: false,
} as const;

export interface Invocation {
  readonly input?: Readonly<Record<string, unknown>>;
  readonly timeout?: number;
}

/** Body of the response when the method has replied (M7). */
export const result = {
  type: 'object',
  description: 'Reply of the method.',
  properties: {
    status: {
      type: 'integer',
      description: 'Status of the method; application and module define its meaning.',
    },
    output: { type: 'object', description: 'Output of the method; absent when its reply was empty.' },
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
          detail: { type: 'string', description: 'A sentence on the problem, for developers.', maxLength: 1000 },
          id: { type: 'string', description: 'The correlation id.', pattern: correlationForm.source },
          meta: {
            type: 'object',
            properties: {
              reason: { type: 'string', enum: Object.keys(failures) },
              invoked: {
                type: 'string',
                enum: [...effects],
                description:
                  'Whether the method has run, or may still be running. Repeat nothing that must not run twice, unless it is `no`.',
              },
              status: { type: 'integer', description: 'Status of the method, when it has replied.' },
            },
            required: ['reason', 'invoked'],
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
