import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import type { BackendName } from '../src/backends/backends.ts';
import type { Card } from '../src/card/card.ts';
import { catalogue } from '../src/messages/index.ts';
import { relatedModels } from '../src/objectModel/storedModel.ts';
import { contentEncodings } from '../src/protocol/body.ts';
import { acks, grammars } from '../src/protocol/envelope.ts';
import type { Generation } from '../src/protocol/event.ts';
import { target as anyTarget, guid, integer, modelId, path, target, text, typeRef } from '../src/protocol/fields.ts';
import type { Notification } from '../src/protocol/reply.ts';
import { type FailureCode, resultCodes } from '../src/protocol/vocabulary.ts';
import { messageLimits } from '../src/settings/constants.ts';
import { contractPage } from './writtenPart.ts';

/** `informationModel` → `information-model`, the name of its OpenAPI document */
const documentOf = (name: BackendName): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

type Content = Readonly<{ content: { readonly 'application/json': { readonly schema: Schema } } }>;

interface Operation {
  readonly operationId?: string;
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/**
 * Borrows schemas of the backends' contracts: bodies that the service hands on unread. What they refer to comes along
 * under names that begin with the backend's.
 * @param name adds a schema to the document
 */
function createBorrower(name: (name: string, schema: Schema) => void) {
  const contracts = new Map<BackendName, Contract>();
  const borrowed = new Set<string>();

  function contractOf(backend: BackendName): Contract {
    const known =
      contracts.get(backend) ?? parse(readFileSync(`docs/contracts/${documentOf(backend)}.openapi.yaml`, 'utf8'));
    contracts.set(backend, known);
    return known;
  }

  function operationOf(backend: BackendName, operationId: string): Operation {
    const operations = Object.values(contractOf(backend).paths).flatMap((item) => Object.values(item));
    const operation = operations.find((one) => one.operationId === operationId);
    if (operation === undefined) throw new Error(`the contract of ${backend} has no operation ${operationId}`);
    return operation;
  }

  function take(backend: BackendName, schema: Schema | undefined): Schema {
    if (schema === undefined) throw new Error(`the contract of ${backend} says nothing about this body`);
    return asDraft07(
      mapReferences(schema, (target) => {
        const original = target.slice('#/components/schemas/'.length);
        const own = `${documentOf(backend)}.${original}`;
        if (!borrowed.has(own)) {
          borrowed.add(own);
          name(own, take(backend, contractOf(backend).components.schemas[original]));
        }
        return String(reference(own)['$ref']);
      }),
    ) as Schema;
  }

  return {
    requestOf: (backend: BackendName, operationId: string): Schema =>
      take(backend, operationOf(backend, operationId).requestBody?.content['application/json'].schema),
    answerOf: (backend: BackendName, operationId: string, status: string): Schema =>
      take(backend, operationOf(backend, operationId).responses[status]?.content['application/json'].schema),
  };
}

/** OpenAPI 3.1 has the newer JSON Schema: what AsyncAPI spells differently, or only allows beside no `$ref`. */
function asDraft07(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(asDraft07);
  if (typeof node !== 'object' || node === null) return node;
  const { dependentRequired, $ref, ...rest } = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, asDraft07(value)]),
  );
  const target = $ref === undefined ? {} : Object.keys(rest).length > 0 ? { allOf: [{ $ref }] } : { $ref };
  return { ...rest, ...target, ...(dependentRequired === undefined ? {} : { dependencies: dependentRequired }) };
}

export type Schema = Readonly<Record<string, unknown>>;

const names = z.registry<Readonly<Record<string, unknown>>>();

/** A schema that the document spells once, by this name, and with what zod does not say of it. */
function named<S extends z.ZodType>(id: string, schema: S, more: Schema): S {
  names.add(schema, { id, ...more });
  return schema;
}

named('guid', guid, { description: 'Compared without regard to the case of its letters.' });
named('modelId', modelId, { description: 'Model definition identifier, case sensitive.' });
named('typeRef', typeRef, {
  description: 'Type identifier, optionally with `@` and a major or a full version. Case sensitive.',
});
named('connectivityPath', path, {
  description: 'Names of identities joined by `/`, relative to the device that is connected to the hub; empty: itself.',
});
named('target', target, { description: 'A path that is only copied; control characters are refused.' });
named('integer', integer, { type: 'integer' });
named('relatedModels', relatedModels, {
  description:
    'What became of each related model of the type: whether it was created or found, which are not told apart.',
});

/** The application properties of requests and acknowledgements. */

function anyCase(texts: readonly string[]) {
  const patterns = texts.map((one) => one.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`));
  return z.string().regex(new RegExp(`^(${patterns.join('|')})$`));
}

const ack = named('ack', anyCase([...acks.keys()]), {
  description:
    'When the device wants an acknowledgement: `none` (default), `positive` (of a success), `negative` (of a failure), `all`; `full` is the same as `all`. In upper or lower case.',
});
const contentEncoding = named('contentEncoding', anyCase(contentEncodings('V2')), {
  description:
    'How the body is encoded; compressed data may be sent as it is or as base64 text. In upper or lower case.',
});
const uncompressed = named('uncompressed', anyCase(contentEncodings('V1')), {
  description: 'The body of an event is never compressed. In upper or lower case.',
});
const timestamp = named('timestamp', z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/), {
  description: 'When the acknowledgement was made; UTC.',
});

const traceparent = z.string().optional();

/** The property that says which message it is. */
const nameKey = { V2: 'action', V1: 'eventType' } as const;

/** What all requests of a generation have beyond the name of their message. */
const commonHeaders = (generation: Generation): z.ZodObject =>
  generation === 'V2'
    ? z.object({
        msgType: z.literal('action'),
        ...grammars[generation].common.shape,
        ...{ ack: ack.optional(), 'content-encoding': contentEncoding.optional(), traceparent },
      })
    : z.object({
        ...{ msgType: z.never().optional(), 'svc-messagetype': z.literal('platformEvent') },
        ...grammars[generation].common.shape,
        ...{ id: z.string().optional(), ack: ack.optional(), 'content-encoding': uncompressed.optional(), traceparent },
      });

const ownHeaders = ({ generation, name, headers }: Card): z.ZodObject =>
  z.object({ [nameKey[generation]]: z.literal(name), ...headers.shape });

export const requestHeaders = (card: Card): z.ZodObject =>
  commonHeaders(card.generation).extend(ownHeaders(card).shape);

/**
 * What acknowledgements have.
 * @param name schema of the action or event type
 * @param own what those of one message have beyond their generation
 */
function acknowledgementHeaders(
  generation: Generation,
  name: z.ZodType,
  success: boolean,
  own: z.ZodRawShape = {},
): z.ZodObject {
  const target = (success ? anyTarget : z.string()).min(1).optional(); // a refused request may have named anything
  return generation === 'V2'
    ? z.object({
        ...{ msgType: z.literal('ack'), action: name, version: z.literal('2') },
        ...{ correlationId: success ? text : text.optional(), target, timestamp },
        ...own,
      })
    : z.object({ 'svc-messagetype': z.literal('platformEventAck'), eventType: name, id: text, target, ...own });
}

/** What is to be said of some properties. */
export const meanings: Readonly<Record<string, string>> = {
  correlationId: 'Copied unchanged into the acknowledgement.',
  id: 'Correlation id, copied unchanged into the acknowledgement and the notifications; generated when absent.',
  target:
    'Path of the device for which the replies are meant, copied unchanged; in a notification to the owner’s device, the owner’s. A reply has none when it is absent or empty.',
  timeout: `Bound on the processing of the message in whole seconds, ${messageLimits.defaultTimeoutSeconds} if absent.`,
  owner: 'Connectivity path of the owner; absent: the device itself.',
  parent: 'Connectivity path of the parent of the identity; absent: the device itself.',
  context: 'User context data of the request, if it has any; copied unchanged into the acknowledgement.',
  traceparent: 'W3C trace context.',
};

/** The headers with a sentence for each property that needs one. */
function explained(headers: Schema): Schema {
  const properties = Object.entries(headers['properties'] ?? {}).map(([name, schema]: [string, Schema]) => {
    const description = meanings[name];
    if (description === undefined) return [name, schema];
    return [name, '$ref' in schema ? { description, allOf: [schema] } : { description, ...schema }];
  });
  return { ...headers, properties: Object.fromEntries(properties) };
}

interface Message {
  readonly summary: string;
  readonly description?: string;
  /** JSON unless given. */
  readonly contentType?: 'text/plain';
  readonly correlationId: { readonly location: string };
  readonly headers: Schema;
  readonly payload: Schema;
}

type Messages = Readonly<Record<string, Message>>;

const correlation = (generation: Generation) => ({
  location: `$message.header#/${generation === 'V2' ? 'correlationId' : 'id'}`,
});

/** What it is for, and whether it still should be used. */
const summaryOf = ({ purpose, generation }: Card): string => `${purpose}${generation === 'V1' ? ' (deprecated)' : ''}`;

const eventTypes: readonly Notification['eventType'][] = [
  'Svc.InformationModel.ObjectModelCreated',
  'Svc.InformationModel.ObjectModelUpdated',
];

const emptyOrRemark = named('emptyOrRemark', z.string().regex(/^(|\d+ of \d+ related models are left out here, .*)$/), {
  description: 'Empty, unless the acknowledgement would have been too large for the hub with all related models.',
});
const failures = Object.keys(resultCodes).filter((code): code is FailureCode => code !== 'ok');
const failureCode = named('failureCode', z.enum(failures), { description: 'docs/result-codes.md explains each.' });

/** One entry for all: what is compressed says the same. */
const compressed: Messages = {
  'V2.compressed': {
    summary: 'Acknowledgement of a compressed request, or one too large for the hub otherwise',
    description: 'Unpacked, and without `content-encoding`, it complies with one of the other entries.',
    contentType: 'text/plain',
    correlationId: correlation('V2'),
    headers: {
      type: 'object',
      properties: { msgType: { type: 'string', const: 'ack' }, 'content-encoding': { type: 'string', const: 'gzip' } },
      required: ['msgType', 'content-encoding'],
    },
    payload: { type: 'string', contentEncoding: 'base64', contentMediaType: 'application/gzip' },
  },
};

const failed = { success: z.literal(false), code: failureCode };

/** Every entry of the document, and which of them answers which. */
function describeMessages() {
  const schemas = createSchemas();
  const borrow = createBorrower(schemas.name);
  const described = (headers: z.ZodObject) => explained(schemas.reply(headers));
  const requests: Record<string, Message> = {};
  const replies: Record<string, Message> = {};
  const failures = { ...commonFailure('V2'), ...commonFailure('V1'), ...compressed };
  const exchanges = catalogue.map((card) => {
    requests[card.name] = request(card);
    const own = failure(card);
    const answers = { ...success(card), ...own };
    Object.assign(replies, answers);
    const common = [
      ...(own ? [] : [`${card.generation}.failure`]),
      ...(card.generation === 'V2' ? Object.keys(compressed) : []),
    ];
    return { request: card.name, summary: summaryOf(card), replies: [...Object.keys(answers), ...common] };
  });
  const notifications = Object.fromEntries(eventTypes.map((eventType) => [eventType, notification(eventType)]));
  return { requests, replies, exchanges, failures, notifications, schemas: schemas.components };

  function request(card: Card): Message {
    const { generation } = card;
    const common = schemas.name(`${generation}.request`, explained(schemas.request(commonHeaders(generation))));
    const checked = card.body && schemas.request(card.body);
    const expected = card.forwardedTo && borrow.requestOf(...card.forwardedTo);
    return {
      ...{ summary: summaryOf(card), correlationId: correlation(generation) },
      headers: { allOf: [common, explained(schemas.request(ownHeaders(card)))] },
      payload: checked && expected ? { allOf: [checked, expected] } : (checked ?? expected ?? {}),
    };
  }

  function success({ generation, name, detailsKey, acknowledged: { success } }: Card): Messages {
    const { fields = {}, properties } = success;
    const details = 'relatedModels' in fields ? emptyOrRemark : z.literal('');
    const body = z.object({ success: z.literal(true), code: z.literal('ok'), [detailsKey]: details, ...fields });
    const headers = properties
      ? described(acknowledgementHeaders(generation, z.literal(name), true, properties))
      : {
          allOf: [
            successHeaders(generation),
            { properties: { [nameKey[generation]]: { type: 'string', const: name } } },
          ],
        };
    return reply(`${name}.success`, generation, headers, body);
  }

  function successHeaders(generation: Generation): Schema {
    const any = acknowledgementHeaders(generation, z.string(), true);
    return schemas.name(`${generation}.successHeaders`, described(any));
  }

  /** Undefined for a message that fails as any other: then the entry of all has it. */
  function failure({ generation, name, detailsKey, acknowledged: { failure } }: Card): Messages | undefined {
    const { fields = {}, properties } = failure;
    if (detailsKey === 'details' && properties === undefined && Object.keys(fields).length === 0) return undefined;
    const headers = acknowledgementHeaders(generation, z.literal(name), false, properties);
    const body = z.object({ ...failed, [detailsKey]: text, ...fields });
    return reply(`${name}.failure`, generation, described(headers), body);
  }

  /** Of the others, and of a request whose name is missing or unknown. */
  function commonFailure(generation: Generation): Messages {
    const apart = catalogue.filter((card) => card.generation === generation && failure(card)).map(({ name }) => name);
    const otherName = named(`${generation}.otherName`, z.string(), { not: { enum: apart } });
    const headers = acknowledgementHeaders(generation, otherName.optional(), false);
    const body = z.object({ ...failed, details: text });
    return reply(`${generation}.failure`, generation, described(headers), body);
  }

  function reply(entry: string, generation: Generation, headers: Schema, body: z.ZodObject): Messages {
    const payload = schemas.name(entry, schemas.reply(body));
    return { [entry]: { summary: 'Acknowledgement', correlationId: correlation(generation), headers, payload } };
  }

  function notification(eventType: string): Message {
    const headers = z.object({
      ...{ 'svc-messagetype': z.literal('platformEvent'), eventType: z.literal(eventType), id: text, objectId: guid },
      model: modelId,
      target: target.min(1).optional(),
    });
    return {
      summary: eventType.endsWith('Created') ? 'An object model was created' : 'An object model was updated or fetched',
      correlationId: correlation('V1'),
      headers: described(headers),
      payload: borrow.answerOf('informationModel', 'readObject', '200'),
    };
  }
}

/**
 * Turns zod schemas into the JSON schemas of an AsyncAPI document, and gathers those that the document names.
 * Requests may hold more than is described, replies hold nothing else.
 */
export function createSchemas() {
  const components: Record<string, Schema> = {};

  function convert(schema: z.ZodType, io: 'input' | 'output'): Schema {
    const { $schema: _, definitions, ...rest } = z.toJSONSchema(schema, { target: 'draft-07', metadata: names, io });
    for (const [name, { id: _id, ...definition }] of Object.entries(definitions ?? {}))
      components[name] = rewritten(definition) as Schema;
    return rewritten(rest) as Schema;
  }

  return {
    components,
    name(name: string, schema: Schema): Schema {
      components[name] = schema;
      return reference(name);
    },
    request: (schema: z.ZodType) => convert(schema, 'input'),
    reply: (schema: z.ZodType) => convert(schema, 'output'),
  };
}

const reference = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

const rewritten = (node: unknown): unknown =>
  mapReferences(node, (target) => target.replace('#/definitions/', '#/components/schemas/'));

/** The schema with every reference in it replaced. */
function mapReferences(node: unknown, map: (target: string) => string): unknown {
  if (Array.isArray(node)) return node.map((one) => mapReferences(one, map));
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string' ? map(value) : mapReferences(value, map),
    ]),
  );
}

/**
 * The contract between the service and devices, written from the cards and, for bodies that the service hands on, the
 * contracts of the backends.
 */
export const asyncApiFile = 'docs/contracts/asyncapi.yaml';

const description = `Messages between devices and the device messaging service, through an IoT hub.

Headers are the application properties of a message. They are text: a typed value of an AMQP device counts as its text: a
number in digits, \`true\` or \`false\`, a UUID in small letters, a timestamp in ISO 8601.
The hub itself says which device sent a message; no property can. Requests may have more properties than are named here,
replies have no others. Bodies are UTF-8 JSON without a byte order mark, nested at most 128 levels deep.

A V2 request may be compressed, as \`content-encoding\` says: its payload here is what the body is after decompression.
V1 events are deprecated. Every acknowledgement is sent only if the request asks for it with \`ack\`.
`;

const references = (place: string, names: readonly string[]) => names.map((name) => ({ $ref: `#/${place}/${name}` }));

const listed = (messages: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }]));

const address = (direction: string) => ({
  address: `devices/{deviceId}/messages/${direction}`,
  parameters: { deviceId: { description: 'Id of the device that is connected to the hub.' } },
});

export function asyncApiDocument(): string {
  const { requests, replies, exchanges, failures, notifications, schemas } = describeMessages();
  const toDevice = { ...replies, ...failures, ...notifications };
  const document = {
    asyncapi: '3.0.0',
    info: {
      ...{ title: 'Device messaging service', version: '2.0.0', description },
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    defaultContentType: 'application/json',
    channels: {
      deviceToCloud: { ...address('events'), messages: listed(requests) },
      cloudToDevice: { ...address('devicebound'), messages: listed(toDevice) },
    },
    operations: {
      ...Object.fromEntries(
        exchanges.map(({ request, summary, replies: answers }) => [
          request,
          {
            ...{ action: 'receive', summary, channel: { $ref: '#/channels/deviceToCloud' } },
            messages: references('channels/deviceToCloud/messages', [request]),
            reply: {
              channel: { $ref: '#/channels/cloudToDevice' },
              messages: references('channels/cloudToDevice/messages', answers),
            },
          },
        ]),
      ),
      refuse: send('Acknowledge a request whose action or event type is missing or unknown', Object.keys(failures)),
      notify: send('Send an object model to a device', Object.keys(notifications)),
    },
    components: { messages: { ...requests, ...toDevice }, schemas },
  };
  return contractPage("the messages' cards", document);
}

const send = (summary: string, messages: readonly string[]) => ({
  ...{ action: 'send', summary, channel: { $ref: '#/channels/cloudToDevice' } },
  messages: references('channels/cloudToDevice/messages', messages),
});
