import { z } from 'zod';
import { guid, modelId } from '../protocol/fields.ts';
import { failures } from '../protocol/vocabulary.ts';
import { correlationForm } from './correlation.ts';
import { errors, invocation, result } from './schemas.ts';

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
    parameter('objectId', 'Object id, case insensitive.', jsonSchema(guid)),
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
        description: 'Identifies the invocation in logs, in responses and at the device. An invalid one is replaced.',
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
        description: 'The method has replied.',
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
    [`/v1${path}`]: operation('invokeMethodV1', 'Invoke a method, version 1 of the interface'),
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
