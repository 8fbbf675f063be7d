import { anyGuid, anyTimestamp, type Pattern } from '../demonstration/pattern.ts';
import { acknowledgement } from './wire.ts';

/** What the acceptance run knows when it sends a message: objects of a type of its own, which it makes on the way. */
export interface LiveWorld {
  /** Of the run: begins all ids, serial numbers and names. It is the type of its objects, and the name of no identity. */
  readonly run: string;
  readonly first: LiveObject;
  readonly second: LiveObject;
  /** The second one after its updates. */
  readonly moved: LiveObject;
  readonly rebuilt: LiveObject;
}

interface LiveObject {
  readonly objectId: string;
  readonly model: 'svc.device';
  readonly type: string;
  readonly properties: Readonly<Record<string, string>>;
  /** The device. */
  readonly path: string;
}

/** A message for a deployment that runs, and what must come back, in this order. */
export interface LiveExchange {
  readonly title: string;
  readonly properties?: Readonly<Record<string, string>>;
  readonly body: object;
  readonly replies: readonly ((message: string, id: string) => LiveReply)[];
}

export interface LiveReply {
  readonly what: string;
  readonly properties: Readonly<Record<string, Pattern>>;
  /** An object model may have more than this; an acknowledgement may not. */
  readonly body: { readonly [key: string]: Pattern };
  readonly isModel: boolean;
}

export const anyText = /^.+$/s;
export const publicKey = 'MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=';

/** As its registration has it. */
export const sent = ({ objectId, model, type, properties }: LiveObject) => ({ objectId, model, type, properties });

/** As the information model has it. */
export const stored = (
  { objectId, model, type, properties, path }: LiveObject,
  version: number,
  variables: Readonly<Record<string, number>> = {},
): LiveReply['body'] => ({
  ...{ objectId, model, type: `${type}@1.0.0`, version, variables, properties },
  ...{ ownerId: anyGuid, path },
});

export const acknowledged =
  (body: LiveReply['body'], more: Readonly<Record<string, string>> = {}) =>
  (message: string, id: string): LiveReply => {
    const { what, properties } = acknowledgement(message, id, {});
    const timed = 'timestamp' in properties ? { timestamp: anyTimestamp } : {};
    return { what, properties: { ...properties, ...timed, ...more }, body, isModel: false };
  };

export const notified =
  (what: string, eventType: string, body: LiveReply['body']) =>
  (_message: string, id: string): LiveReply => ({
    what,
    properties: {
      ...{ 'svc-messagetype': 'platformEvent', eventType: `Svc.InformationModel.${eventType}`, id },
      ...{ objectId: body['objectId'] ?? null, model: 'svc.device' },
    },
    body,
    isModel: true,
  });
