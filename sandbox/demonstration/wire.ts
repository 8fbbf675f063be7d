// The wire is spelled by hand here, on purpose: an error in the service's own code would cancel itself out.
import { unpack } from '../showMessage.ts';
import type { Exchange } from './demonstrate.ts';
import { anyTimestamp, type Pattern } from './pattern.ts';
import type { ExpectedReply, Request } from './step.ts';

type Fields = Readonly<Record<string, Pattern>>;
type Texts = Readonly<Record<string, string>>;

/** A V2 request that wants to hear about its result. */
export const action = (name: string, correlationId: string, body: unknown, more: Texts = {}): Request => ({
  properties: { msgType: 'action', action: name, version: '2', correlationId, ack: 'all', ...more },
  body,
});

/** A V1 request that wants to hear about its result. */
export const event = (name: string, id: string, body: unknown, more: Texts = {}): Request => ({
  properties: { 'svc-messagetype': 'platformEvent', eventType: name, id, ack: 'all', ...more },
  body,
});

/** The acknowledgement of a request that succeeds. `properties` are those beyond what every acknowledgement has. */
export const success = (request: Request, fields: Fields = {}, properties: Fields = {}): ExpectedReply => ({
  properties: { ...acknowledgement(request), ...properties },
  body: { success: true, code: 'ok', [detailsKey(request)]: '', ...fields },
});

/** The acknowledgement of a request that is refused. */
export const refusal = (
  request: Request,
  code: string,
  details: RegExp,
  fields: Fields = {},
  properties: Fields = {},
): ExpectedReply => ({
  properties: { ...acknowledgement(request), ...properties },
  body: { success: false, code, [detailsKey(request)]: details, ...fields },
});

function acknowledgement({ properties }: Request): Fields {
  const { action = '', correlationId = '', eventType = '', id = '', target = '' } = properties;
  return properties['msgType'] === 'action'
    ? { msgType: 'ack', action, version: '2', correlationId, target, timestamp: anyTimestamp }
    : { 'svc-messagetype': 'platformEventAck', eventType, id, target };
}

const detailsKey = ({ properties: { action } }: Request) => (action === 'identity.delete' ? 'detail' : 'details');

/** A notification of an object model that belongs to a request; `model` is the whole of it. */
export const news = (
  { properties: { correlationId, id = '' } }: Request,
  eventType: 'ObjectModelCreated' | 'ObjectModelUpdated',
  model: Fields & { objectId: Pattern; model: string },
  target = '',
): ExpectedReply => ({
  properties: {
    'svc-messagetype': 'platformEvent',
    eventType: `Svc.InformationModel.${eventType}`,
    id: correlationId ?? id,
    objectId: model.objectId,
    model: model.model,
    target,
  },
  body: model,
});

/** The object id in the acknowledgement of an earlier request, named by its correlation id. */
export function objectIdOf(earlier: readonly Exchange[], id: string): string {
  const exchange = earlier.find(({ sent }) => (sent.properties['correlationId'] ?? sent.properties['id']) === id);
  const ack = exchange?.replies.at(-1);
  if (!ack) throw new Error(`Nothing was sent as ${id}`);
  const inBody: unknown = Object(JSON.parse(unpack(ack).toString('utf8')))['objectId'];
  return ack.properties['objectId'] ?? String(inBody);
}
