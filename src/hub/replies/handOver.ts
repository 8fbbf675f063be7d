import { EventEmitter } from 'node:events';
import type { Client } from 'azure-iothub';
import type { Reply } from '../../protocol/c2d.ts';
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
 * link keeps the account of what is not settled, and reports every failure.
 */
export function createHandOver(client: Client): HandOver {
  let watched: Sender | undefined;

  return (reply) => {
    const link = reply.deviceId === '' ? undefined : attachedLink(client);
    if (link === undefined) return client.send(reply.deviceId, toMessage(reply)).then(isTaken);
    const { _rheaSender: sender, _pendingMessageDictionary: unsettled } = link;
    if (watched !== sender) {
      watched = sender;
      watch(link, sender);
    }
    return new Promise((resolve, reject) => {
      const { id } = sender.send(encode(reply), undefined, plainFormat);
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

/** Undefined when there is none that can take a message at this moment; then the client knows what to do. */
function attachedLink(client: Client): Link | undefined {
  const transport: Transport | undefined = Reflect.get(client, '_transport');
  const link = transport?._c2dLink;
  if (!link || transport?._fsm.state !== 'authenticated' || link._fsm.state !== 'attached') return undefined;
  return link._unsentMessageQueue.length === 0 && link._rheaSender.sendable() ? link : undefined;
}

/** Does for accepted deliveries what the link's state machine would do, and keeps `settled` from four levels of nobody. */
function watch(link: Link, sender: Sender): void {
  const dispatch = sender.dispatch;
  sender.dispatch = function dispatchOfReplies(this: Sender, event, context) {
    if (event === 'settled') return EventEmitter.prototype.emit.call(this.observers, event, context);
    const id = event === 'accepted' ? context?.delivery?.id : undefined;
    const send = id === undefined ? undefined : link._pendingMessageDictionary[id];
    if (id === undefined || send === undefined) return dispatch.call(this, event, context);
    delete link._pendingMessageDictionary[id];
    send.callback(null, enqueued);
    return true;
  };
}

/** As the link answers for an accepted delivery; nobody looks inside. */
const enqueued = {};

const isTaken = ({ result }: { result?: unknown }): boolean => Boolean(result);

interface Transport {
  readonly _fsm: { readonly state: string };
  readonly _c2dLink?: Link | null;
}

/** The client's own link. */
interface Link {
  readonly _fsm: { readonly state: string };
  readonly _rheaSender: Sender;
  readonly _unsentMessageQueue: readonly unknown[];
  /** Sends that are not settled, by the id of the delivery. */
  readonly _pendingMessageDictionary: Record<number, Send>;
}

interface Send {
  callback(error: Error | null | undefined, result?: object): void;
}

/** rhea's sender under the link. */
interface Sender {
  /** Listeners of the library itself. */
  readonly observers: EventEmitter;
  sendable(): boolean;
  send(bytes: Buffer, tag: undefined, format: number): { readonly id: number };
  dispatch(event: string, context?: { readonly delivery?: { readonly id: number } }): boolean;
}
