import type { Client } from 'azure-iothub';
import type { Reply } from '../../protocol/reply.ts';
import { attachedLink, watchLink, writeOnce } from './clientLink.ts';
import { encode } from './encoding.ts';
import { toMessage } from './message.ts';
import { translateError } from './serviceSdk.ts';

/**
 * Sends one reply over the client's link.
 * @returns whether the hub has accepted it; released and modified deliveries resolve, too (SDK trap)
 * @throws the error of the client
 */
export type HandOver = (reply: Reply) => Promise<boolean>;

/**
 * The first reply goes through `client.send`, which attaches the client's link. While the link is attached and has room, later
 * replies go to it as bytes: without a message object, a retry operation and events of two state machines for each (D147). The
 * link keeps the account of what is not settled, and reports every failure. Replies of the same turn of the event loop are
 * written together: a write through TLS costs as much as all else that a reply needs here (D148).
 */
export function createHandOver(client: Client): HandOver {
  const sendByClient = (reply: Reply) => client.send(reply.deviceId, toMessage(reply)).then(isTaken);
  let turn: Promise<void> | undefined;

  /** Until all that happens in this turn of the event loop has happened. */
  const endOfTurn = () => {
    turn ??= new Promise((resolve) => {
      setImmediate(() => {
        turn = undefined;
        resolve();
      });
    });
    return turn;
  };

  return async (reply) => {
    const isFirst = turn === undefined && attachedLink(client) === undefined;
    if (isFirst || reply.deviceId === '') return sendByClient(reply);
    const bytes = encode(reply);
    await endOfTurn();
    const link = attachedLink(client);
    if (link === undefined) return sendByClient(reply);
    const { _rheaSender: sender, _pendingMessageDictionary: unsettled } = link;
    watchLink(link);
    const { id } = sender.send(bytes, undefined, plainFormat);
    writeOnce(sender.connection);
    return new Promise((resolve, reject) => {
      unsettled[id] = {
        callback(error, result) {
          if (error) reject(translateError('the hub has not taken the reply', error));
          else resolve(isTaken({ result }));
        },
      };
    });
  };
}

/** AMQP's message format: the bytes are sections of a message. */
const plainFormat = 0;

const isTaken = ({ result }: { result?: unknown }): boolean => Boolean(result);
