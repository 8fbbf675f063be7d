import { z } from 'zod';
import { guid, modelId } from '../protocol/fields.ts';
import { correlationForm } from './correlation.ts';
import { failures } from './failure.ts';
import { errors, invocation, result } from './schemas.ts';

const description = `Invokes methods of object models whose owner is a device, or a module behind one.

The method must be declared by the type of the object or by one of its base types. The invocation waits for the answer of
the device: \`timeout\` seconds, and up to ten more for what is looked up beforehand.

Who may invoke what is decided by the information model, by the caller's bearer token. After a 4xx or a 503 nothing was
invoked, and repeating is safe; after a 502 or 504 the method may have run.
`;

/** Each failure as it stands in the description of its status. */
const reasonsOf = (status: number): string =>
  Object.entries(failures)
    .filter(([, failure]) => failure.status === status)
    .map(([reason, { title }]) => `\`${reason}\` (${title})`)
    .join(', ');

const statuses = [...new Set(Object.values(failures).map(({ status }) => status))].sort();

const headers = {
  'X-Correlation-Id': { $ref: '#/components/headers/X-Correlation-Id' },
};

const retryAfter = { 'Retry-After': { $ref: '#/components/headers/Retry-After' } };

const more: Readonly<Record<number, object>> = {
  401: { 'WWW-Authenticate': { required: true, schema: { type: 'string', const: 'Bearer' } } },
  429: retryAfter,
  503: retryAfter,
};

const failed = (status: number) => ({
  description: `Reasons: ${reasonsOf(status)}.`,
  headers: { ...headers, ...more[status] },
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Errors' } } },
});

const jsonSchema = (schema: z.ZodType): object => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema);
  return rest;
};

const parameter = (name: string, about: string, schema: object) => ({
  name,
  in: 'path',
  required: true,
  description: about,
  schema,
});

const operation = (operationId: string, summary: string) => ({
  parameters: [
    parameter('objectId', 'Object id; the case of its letters does not matter.', jsonSchema(guid)),
    parameter('model', 'Model definition identifier, case sensitive.', jsonSchema(modelId)),
    parameter('method', 'Name of the method, case sensitive.', { type: 'string', minLength: 1, maxLength: 256 }),
  ],
  post: {
    operationId,
    summary,
    parameters: [
      {
        name: 'X-Correlation-Id',
        in: 'header',
        description:
          'Names the invocation in logs, answers and at the device. One that does not fit the pattern is replaced.',
        schema: { type: 'string' },
      },
      { name: 'traceparent', in: 'header', description: 'W3C trace context.', schema: { type: 'string' } },
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Invocation' } } },
    },
    responses: {
      200: {
        description: 'The method has answered.',
        headers,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Result' } } },
      },
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
    [`/v1${path}`]: operation('invokeMethodV1', 'Invoke a method; the same under the first version of the interface'),
    '/openapi.json': {
      get: {
        operationId: 'contract',
        summary: 'This document',
        security: [],
        responses: {
          200: {
            description: 'The contract.',
            headers,
            content: { 'application/json': { schema: { type: 'object', required: ['openapi', 'paths'] } } },
          },
        },
      },
    },
  },
  components: {
    securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    headers: {
      'X-Correlation-Id': {
        description: "The request's correlation id, or a new one.",
        required: true,
        schema: { type: 'string', pattern: correlationForm.source },
      },
      'Retry-After': {
        description: 'Seconds until another attempt makes sense; absent when only somebody’s work makes it succeed.',
        schema: { type: 'string', pattern: '^\\d+$' },
      },
    },
    schemas: { Invocation: invocation, Result: result, Errors: errors },
  },
});
