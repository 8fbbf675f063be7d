import { anyGuid, anyTimestamp } from './pattern.ts';
import type { LiveObject, LiveReply } from './story.ts';
import { acknowledgement } from './wire.ts';

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
