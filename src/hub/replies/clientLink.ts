import { EventEmitter } from 'node:events';
import type { Writable } from 'node:stream';
import type { Client } from 'azure-iothub';

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
  readonly connection: Connection;
  /** Listeners of the library itself. */
  readonly observers: EventEmitter;
  sendable(): boolean;
  send(bytes: Buffer, tag: undefined, format: number): { readonly id: number };
  dispatch(event: string, context?: { readonly delivery?: { readonly id: number } }): boolean;
}

interface Connection {
  /** Over WebSockets only what the library needs of one. */
  readonly socket?: Pick<Writable, 'write'> & Partial<Pick<Writable, 'cork' | 'uncork'>>;
  /** Writes the frames that it has made. */
  output(): void;
}

/** Undefined when no link can take a message now: then the client sends it itself. */
export function attachedLink(client: Client): Link | undefined {
  const transport: Transport | undefined = Reflect.get(client, '_transport');
  const link = transport?._c2dLink;
  if (!link || transport?._fsm.state !== 'authenticated' || link._fsm.state !== 'attached') return undefined;
  return link._unsentMessageQueue.length === 0 && link._rheaSender.sendable() ? link : undefined;
}

/**
 * Does for accepted deliveries what the link’s state machine would do, and ends the event `settled` here: the four state machines
 * above have no listener for it.
 */
export function watchLink(link: Link): void {
  const { _rheaSender: sender } = link;
  if (Object.hasOwn(sender, 'dispatch')) return;
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

/**
 * The connection has planned to make frames of what it has been given, in the next tick. It would write each by itself, and set
 * its timer again for each. This holds them back until the last one is made.
 */
export function writeOnce(connection: Connection): void {
  if (Object.hasOwn(connection, 'output')) return;
  connection.output = () => undefined;
  process.nextTick(() => {
    Reflect.deleteProperty(connection, 'output');
    const { socket } = connection;
    socket?.cork?.();
    connection.output();
    socket?.uncork?.();
  });
}

/** What the link returns for an accepted delivery; callers do not read it. */
const enqueued = {};
