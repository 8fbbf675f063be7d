import { z } from 'zod';
import { guid, modelId } from '../protocol/fields.ts';
import { effects, failures } from '../protocol/vocabulary.ts';

/** In seconds; the range is that of the hub (M3). */
export const timeoutRange = { min: 5, max: 300, default: 30 } as const;

export const timeoutRule = `timeout must be whole seconds from ${timeoutRange.min} to ${timeoutRange.max}`;

/** Of correlation ids: safe in headers, log lines and payloads. */
export const correlationForm = /^[!-~]{1,128}$/;

type Schemas = Readonly<Record<string, object>>;

/** An object without other members. */
const only = (properties: Schemas, required?: readonly string[], description?: string) => ({
  type: 'object',
  ...(description && { description }),
  properties,
  ...(required && { required }),
  additionalProperties: false,
});

/** Body of an invocation (M3). */
const invocation = only(
  {
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
  undefined,
  'Input and time-out of the invocation. No other members are allowed.',
);

/** Body of the response when the method has replied (M7). */
const result = only(
  {
    status: { type: 'integer', description: 'Status of the method; application and module define its meaning.' },
    output: { type: 'object', description: 'Output of the method; absent when its reply was empty.' },
  },
  ['status'],
  'Reply of the method.',
);

const meta = {
  reason: { type: 'string', enum: Object.keys(failures) },
  invoked: {
    type: 'string',
    enum: effects,
    description:
      'Whether the method has run, or may still be running. Repeat nothing that must not run twice, unless it is `no`.',
  },
  status: { type: 'integer', description: 'Status of the method, when it has replied.' },
};
const error = {
  code: { type: 'string', description: 'The HTTP status.', pattern: '^[45]\\d\\d$' },
  title: { type: 'string' },
  detail: { type: 'string', description: 'A sentence on the problem, for developers.', maxLength: 1000 },
  id: { type: 'string', description: 'The correlation id.', pattern: correlationForm.source },
  meta: only(meta, ['reason', 'invoked']),
};
/** Body of a failure. */
const errors = only({ errors: { type: 'array', minItems: 1, maxItems: 1, items: only(error, Object.keys(error)) } }, [
  'errors',
]);

const description = `Invokes methods of object models whose owner is a device, or a module behind one.

The type of the object or one of its base types must declare the method. The call waits up to \`timeout\` seconds for the
response of the device, and up to ten seconds for look-ups before.

The information model decides by the caller's bearer token who may invoke methods. Each failure says in \`meta.invoked\`
whether the method has run: \`no\` allows to repeat the call. After a 502 or 504 it is most often \`unknown\`.
`;

const reasonsOf = (status: number): string =>
  Object.entries(failures)
    .filter(([, failure]) => failure.status === status)
    .map(([reason, { title }]) => `\`${reason}\` (${title})`)
    .join(', ');

const statuses = [...new Set(Object.values(failures).map(({ status }) => status))].sort();

const refTo = (component: string) => ({ $ref: `#/components/${component}` });
const json = (schema: object) => ({ 'application/json': { schema } });
const header = (name: string) => ({ [name]: refTo(`headers/${name}`) });
const correlationId = header('X-Correlation-Id');

const more: Readonly<Record<number, object>> = {
  401: { 'WWW-Authenticate': { required: true, schema: { type: 'string', const: 'Bearer' } } },
  429: header('Retry-After'),
  503: header('Retry-After'),
};

const response = (about: string, schema: object, headers: object = {}) => ({
  description: about,
  headers: { ...correlationId, ...headers },
  content: json(schema),
});

const failed = (status: number) => response(`Reasons: ${reasonsOf(status)}.`, refTo('schemas/Errors'), more[status]);

const jsonSchema = (schema: z.ZodType): object => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema);
  return rest;
};

const inPath = (name: string, about: string, schema: object) => ({
  name,
  in: 'path',
  required: true,
  description: about,
  schema,
});
const inHeader = (name: string, about: string) => ({
  ...{ name, in: 'header', description: about, schema: { type: 'string' } },
});

const operation = (operationId: string, summary: string) => ({
  parameters: [
    inPath('objectId', 'Object id, case insensitive.', jsonSchema(guid)),
    inPath('model', 'Model definition identifier, case sensitive.', jsonSchema(modelId)),
    inPath('method', 'Name of the method, case sensitive.', { type: 'string', minLength: 1, maxLength: 256 }),
  ],
  post: {
    operationId,
    summary,
    parameters: [
      inHeader(
        'X-Correlation-Id',
        'Identifies the invocation in logs, in responses and at the device. An invalid one is replaced.',
      ),
      inHeader('traceparent', 'W3C trace context.'),
    ],
    requestBody: { required: true, content: json(refTo('schemas/Invocation')) },
    responses: {
      200: response('The method has replied.', refTo('schemas/Result')),
      ...Object.fromEntries(statuses.map((status) => [status, failed(status)])),
    },
  },
});

const path = '/objects/{objectId}/models/{model}/methods/{method}';

/** The contract of the front door: an OpenAPI document (M1). */
export const contract = (): object => ({
  openapi: '3.1.0',
  info: {
    title: 'Remote methods',
    version: '1.0.0',
    description,
    license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
  },
  servers: [{ url: '{baseUrl}', variables: { baseUrl: { default: 'http://127.0.0.1:8081' } } }],
  security: [{ token: [] }],
  paths: {
    [path]: operation('invokeMethod', 'Invoke a method'),
    [`/v1${path}`]: operation('invokeMethodV1', 'Invoke a method, version 1 of the interface'),
    '/openapi.json': {
      get: {
        operationId: 'contract',
        summary: 'This document',
        security: [],
        responses: { 200: response('The contract.', { type: 'object', required: ['openapi', 'paths'] }) },
      },
    },
  },
  components: {
    securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    headers: {
      'X-Correlation-Id': {
        description: 'Correlation id of the request, or a new one.',
        required: true,
        schema: { type: 'string', pattern: correlationForm.source },
      },
      'Retry-After': {
        description:
          'Seconds after which the request can be repeated, or the HTTP date when the information model gave one; absent when a repeat is of no use before something is repaired.',
        schema: { type: 'string', pattern: '^(\\d+|\\w{3}, \\d{2} \\w{3} \\d{4} \\d{2}:\\d{2}:\\d{2} GMT)$' },
      },
    },
    schemas: { Invocation: invocation, Result: result, Errors: errors },
  },
});
