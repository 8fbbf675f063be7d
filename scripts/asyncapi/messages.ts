import { z } from 'zod';
import type { Card } from '../../src/card/card.ts';
import { catalogue } from '../../src/messages/index.ts';
import type { Generation } from '../../src/protocol/event.ts';
import { guid, modelId, target, text } from '../../src/protocol/fields.ts';
import type { Notification } from '../../src/protocol/reply.ts';
import { type FailureCode, resultCodes } from '../../src/protocol/vocabulary.ts';
import { createBorrower } from './borrowed.ts';
import { acknowledgementHeaders, explained, requestHeaders } from './headers.ts';
import { createSchemas, named, type Schema } from './schemas.ts';

/** An entry of the document. */
interface Message {
  readonly title: string;
  readonly summary: string;
  readonly contentType: 'application/json' | 'text/plain';
  readonly correlationId: { readonly location: string };
  readonly headers: Schema;
  readonly payload: Schema;
}

type Messages = Readonly<Record<string, Message>>;

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

export interface Exchange {
  /** Name of the request's entry. */
  readonly request: string;
  readonly summary: string;
  /** Names of the entries of its acknowledgements. */
  readonly replies: readonly string[];
}

/** Every entry of the document, and which of them answers which. */
export function describeMessages() {
  const schemas = createSchemas();
  const borrow = createBorrower(schemas.name);
  const requests: Record<string, Message> = {};
  const replies: Record<string, Message> = {};
  const exchanges = catalogue.map((card): Exchange => {
    requests[card.name] = request(card);
    const answers = { ...acknowledgements(card, true), ...acknowledgements(card, false) };
    Object.assign(replies, answers);
    return { request: card.name, summary: summaryOf(card), replies: Object.keys(answers) };
  });
  const refusals = { ...refusal('V2'), ...refusal('V1') };
  const notifications = Object.fromEntries(eventTypes.map((eventType) => [eventType, notification(eventType)]));
  return { requests, replies, exchanges, refusals, notifications, schemas: schemas.components };

  function request(card: Card): Message {
    const checked = card.body && schemas.request(card.body);
    const expected = card.forwardedTo && borrow.requestOf(...card.forwardedTo);
    return {
      title: card.name,
      summary: summaryOf(card),
      contentType: 'application/json',
      correlationId: correlation(card.generation),
      headers: explained(schemas.request(requestHeaders(card))),
      payload: checked && expected ? { allOf: [checked, expected] } : (checked ?? expected ?? {}),
    };
  }

  function acknowledgements({ generation, name, detailsKey, acknowledged }: Card, success: boolean): Messages {
    const { fields = {}, properties } = success ? acknowledged.success : acknowledged.failure;
    const headers = acknowledgementHeaders(generation, z.literal(name), success, properties);
    const result = success
      ? {
          success: z.literal(true),
          code: z.literal('ok'),
          [detailsKey]: 'relatedModels' in fields ? emptyOrRemark : z.literal(''),
        }
      : { success: z.literal(false), code: failureCode, [detailsKey]: text };
    return forms(`${name}.${success ? 'success' : 'failure'}`, generation, headers, z.object({ ...result, ...fields }));
  }

  /** The acknowledgement of a request whose name is missing or unknown. */
  function refusal(generation: Generation): Messages {
    const names = catalogue.filter((card) => card.generation === generation).map(({ name }) => name);
    const otherName = named(`${generation}.otherName`, z.string(), { not: { enum: names } });
    const headers = acknowledgementHeaders(generation, otherName.optional(), false);
    const body = z.object({ success: z.literal(false), code: failureCode, details: text });
    return forms(`${generation}.refusal`, generation, headers, body);
  }

  /** An acknowledgement as it is, and for V2 compressed. */
  function forms(name: string, generation: Generation, headers: z.ZodObject, body: z.ZodObject): Messages {
    const payload = schemas.name(name, schemas.reply(body));
    const correlationId = correlation(generation);
    const plain: Message = {
      title: name,
      summary: 'Acknowledgement',
      contentType: 'application/json',
      correlationId,
      headers: explained(schemas.reply(headers)),
      payload,
    };
    if (generation === 'V1') return { [name]: plain };
    const compressed: Message = {
      title: `${name}, compressed`,
      summary: 'Acknowledgement of a compressed request, or one too large for the hub otherwise',
      contentType: 'text/plain',
      correlationId,
      headers: explained(schemas.reply(headers.extend({ 'content-encoding': z.literal('gzip') }))),
      payload: {
        type: 'string',
        contentEncoding: 'base64',
        contentMediaType: 'application/gzip',
        'x-uncompressed': payload,
      },
    };
    return { [name]: plain, [`${name}.compressed`]: compressed };
  }

  function notification(eventType: string): Message {
    const headers = z.object({
      'svc-messagetype': z.literal('platformEvent'),
      eventType: z.literal(eventType),
      id: text,
      objectId: guid,
      model: modelId,
      target: target.min(1).optional(),
    });
    return {
      title: eventType,
      summary: eventType.endsWith('Created') ? 'An object model was created' : 'An object model was updated or fetched',
      contentType: 'application/json',
      correlationId: correlation('V1'),
      headers: explained(schemas.reply(headers)),
      payload: borrow.answerOf('informationModel', 'readObject', '200'),
    };
  }
}

const correlation = (generation: Generation) => ({
  location: `$message.header#/${generation === 'V2' ? 'correlationId' : 'id'}`,
});
