import { stories } from '../stories/index.ts';
import { acknowledged, anyText, publicKey } from '../stories/live.ts';
import type { LiveExchange, LiveReply, LiveWorld } from '../stories/story.ts';
import { envelope } from '../stories/wire.ts';

/** A message for a deployment that runs, and what must come back. */
export interface LiveMessage {
  readonly message: string;
  readonly title: string;
  /** `correlationId` or `id`. */
  readonly id: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly body: string;
  /** In this order. */
  readonly replies: readonly LiveReply[];
}

/** Names that nothing else has. */
export interface LiveNames {
  /** Of the run: begins all ids, serial numbers and names. */
  readonly run: string;
  readonly deviceId: string;
  /** GUIDs of the two objects. */
  readonly firstId: string;
  readonly secondId: string;
}

/**
 * Every message, in an order in which they succeed: they need nothing that was there before.
 * @param round ends the ids of messages that are sent another time
 */
export function liveMessages(names: LiveNames, round = ''): readonly LiveMessage[] {
  const world = worldOf(names);
  const isType = (message: string) => Number(message === 'type.create'); // the objects are of that type
  return stories
    .toSorted((one, other) => isType(other.message) - isType(one.message))
    .map(({ message, live }) => liveMessage(message, `${names.run}-${message}${round}`, live(world)));
}

function worldOf({ run, deviceId, firstId, secondId }: LiveNames): LiveWorld {
  const object = (objectId: string, serial: string, location: string) => ({
    ...({ objectId, model: 'svc.device', type: run, path: deviceId } as const),
    properties: { serial: `${run}-${serial}`, location },
  });
  return {
    run,
    first: object(firstId, '1', 'hall 1'),
    second: object(secondId, '2', 'hall 2'),
    moved: object(secondId, '2', 'hall 3'),
    rebuilt: object(secondId, '2', 'hall 4'),
  };
}

const liveMessage = (message: string, id: string, live: LiveExchange): LiveMessage => ({
  ...{ message, title: live.title, id },
  properties: { ...envelope(message, id), ...live.properties },
  body: JSON.stringify(live.body, null, 2),
  replies: live.replies.map((reply) => reply(message, id)),
});

/** A message that fails while the principal manager does, and then becomes a dead letter. */
export const failingMessage = ({ run }: LiveNames): LiveMessage =>
  liveMessage('identity.update', `${run}-dead-letter`, {
    title: 'It fails while the principal manager does, and is kept as a dead letter',
    body: { identity: run, publicKey },
    replies: [acknowledged({ success: false, code: /^(internal_platform_error|timeout_exceeded)$/, details: anyText })],
  });
