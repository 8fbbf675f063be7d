import type { EventEmitter } from 'node:events';
import { isIP } from 'node:net';
import ConnectionOfReplies from 'azure-iothub/node_modules/rhea/lib/connection.js';
import framesOfReplies from 'azure-iothub/node_modules/rhea/lib/frames.js';
import messageOfReplies from 'azure-iothub/node_modules/rhea/lib/message.js';
import terminiOfReplies from 'azure-iothub/node_modules/rhea/lib/terminus.js';
import ofReplies from 'azure-iothub/node_modules/rhea/lib/util.js';
import ConnectionOfReading from 'rhea/lib/connection.js';
import framesOfReading from 'rhea/lib/frames.js';
import messageOfReading from 'rhea/lib/message.js';
import terminiOfReading from 'rhea/lib/terminus.js';
import ofReading from 'rhea/lib/util.js';
import { Connection, ConnectionEvents, Receiver, type Source } from 'rhea-promise';
import { undecodedProperties } from '../protocol/event.ts';
import { isFrameDecodable, sectionsOf } from './decodable.ts';
import { createExactDecoding } from './exactDecoding.ts';
import { boundPrefetch } from './receiveCycle.ts';
import { AmqpConnection, errors, SenderLink } from './serviceSdk.ts';

/** Corrects faults of the hub's client libraries that callers cannot work around, in the pinned versions. Each has a regression test. */
export function cureHubSdks(): void {
  boundPrefetch();
  mendConnections();
  forgetAddresses();
  breakErrorCycles();
  failSendsOfClosedConnections();
  failUnansweredLinks();
  keepSocketErrors();
  mendLibraries();
  boundDecoding(messageOfReading, framesOfReading, createExactDecoding);
  boundDecoding(messageOfReplies, framesOfReplies);
}

/** Puts a method in the place of a faulty one, unless it is there already. */
function cure<Owner, Name extends keyof Owner>(owner: Owner, name: Name, cureOf: (faulty: Owner[Name]) => Owner[Name]) {
  const faulty = owner[name];
  if (Object(faulty).name !== 'cured') owner[name] = cureOf(faulty);
}

/**
 * The library reports a connection that the hub closes as lost only for the reason `amqp:connection:forced`. Else the event client
 * would open the same connection again and consider the old links open. An `error` of the connection has no listener: the library
 * closes the socket after it. The operating system would hold a frame back for up to 40 ms, until the hub has confirmed the one before (D177).
 */
function mendConnections(): void {
  const watched = new WeakSet<Connection>();
  cure(Connection.prototype, 'open', (open) => {
    return function cured(this: Connection, options) {
      if (!watched.has(this)) {
        watched.add(this);
        this.on(ConnectionEvents.error, () => undefined);
        const inner: InnerConnection = Reflect.get(this, '_connection');
        inner.options.tcp_no_delay = true;
        this.on(ConnectionEvents.connectionClose, () => {
          if (!inner.is_closed()) inner.closed_with_non_fatal_error = true;
        });
      }
      return open.call(this, options);
    };
  });
}

interface InnerConnection {
  readonly options: { tcp_no_delay?: boolean };
  /** True also when the peer's close answers ours. */
  is_closed(): boolean;
  /** Makes rhea report the end of the socket as a disconnection. */
  closed_with_non_fatal_error: boolean;
}

/** A link has its address from the hub's answer. The event client asks for it also when the library has forgotten it, to connect again. */
function forgetAddresses(): void {
  const link: object = Object.getPrototypeOf(Receiver.prototype); // the class of receivers and senders
  Object.defineProperty(link, 'address', {
    get(this: Receiver) {
      return (this.source as Source | undefined)?.address;
    },
    configurable: true,
  });
}

/** The service client makes an error its own cause, and does not expect that where it follows causes. This ignores such a cause. */
function breakErrorCycles(): void {
  for (const { prototype } of [errors.NotConnectedError, errors.ServiceUnavailableError]) {
    if (Object.hasOwn(prototype, 'amqpError')) continue;
    const causes = new WeakMap<object, unknown>();
    Object.defineProperty(prototype, 'amqpError', {
      get(this: object) {
        return causes.get(this);
      },
      set(this: object, cause: unknown) {
        if (cause !== this && cause !== null) causes.set(this, cause);
      },
    });
  }
}

/** When the hub closes the connection, the service client and its sends wait up to 45 s for links to detach. With this, the sends fail at once. */
function failSendsOfClosedConnections(): void {
  cure(AmqpConnection.prototype, 'setDisconnectHandler', (setHandler) => {
    return function cured(this: AmqpConnection, onDisconnect) {
      setHandler.call(this, onDisconnect);
      const states: EventEmitter<{ transition: [{ fromState: string; toState: string }] }> = Reflect.get(this, '_fsm');
      states.on('transition', ({ fromState, toState }) => {
        const isClosedByHub = Reflect.get(this, '_connectionCloseOccurred') === true;
        if (fromState !== 'connected' || toState !== 'disconnecting' || !isClosedByHub) return;
        // The client ignores this when it closes the connection itself.
        setImmediate(() => onDisconnect(new errors.NotConnectedError('the hub has closed the connection')));
      });
    };
  });
}

/** A link that the hub has not answered takes its end without an error for success. This is an error for it, but not for those of $cbs. */
function failUnansweredLinks(): void {
  cure(SenderLink.prototype, 'forceDetach', (forceDetach) => {
    return function cured(this: SenderLink, error) {
      const { state }: { readonly state: string } = Reflect.get(this, '_fsm');
      const isUnanswered = state === 'attaching' && this.listenerCount('error') > 0;
      const reason = isUnanswered ? new errors.NotConnectedError('the connection was lost') : undefined;
      forceDetach.call(this, error ?? reason);
    };
  });
}

/** The service client only says that it is not connected. This adds the cause: an unknown host, a certificate that is not trusted. */
function keepSocketErrors(): void {
  cure(AmqpConnection.prototype, 'connect', (connect) => {
    return function cured(this: AmqpConnection, config, done) {
      let cause: Error | undefined;
      connect.call(this, config, (error, result) => {
        if (error && cause) Object.assign(error, { amqpError: cause });
        done(error, result);
      });
      const inner: EventEmitter<{ disconnected: [{ error?: Error }] }> = Reflect.get(this, '_rheaConnection');
      // Before the client, which forgets it.
      inner.prependListener('disconnected', ({ error }) => {
        cause ??= error; // of a WebSocket comes its end, too
      });
    };
  });
}

/** Events without a listener that are followed by the end of the connection, which the client notices. */
const foretold: ReadonlySet<string> = new Set(['disconnected', 'protocol_error']);

/** AMQP's `source` and `target`: the only ends of a link that the library knows. */
const termini: ReadonlySet<string> = new Set(['40', 'amqp:source:list', '41', 'amqp:target:list']);

/** Corrects the AMQP library, of which each client has its own. */
function mendLibraries(): void {
  for (const { prototype } of [ConnectionOfReading, ConnectionOfReplies]) {
    // It takes the event of a WebSocket’s error for the error itself, so that its users know no cause.
    cure(prototype, 'on_error', (onError) => {
      return function cured(this: object, error) {
        const { error: inner } = Object(error) as { readonly error?: unknown };
        onError.call(this, inner instanceof Error ? inner : error);
      };
    });
    // It names an address as the server's name in TLS, which must have none then (D409).
    cure(prototype, '_connect', (connect) => {
      return function cured(this: object, details) {
        const { options } = details;
        if (options?.servername !== undefined && isIP(options.servername) !== 0) options.servername = '';
        return connect.call(this, details);
      };
    });
    // It warns on standard error of each idle connection that the hub closes, when the end has no listener. The other warnings are about
    // ends of links that the library does not know, and sections of messages, which `boundDecoding` keeps from it (D325).
    cure(prototype, 'dispatch', (dispatch) => {
      return function cured(this: object, event, ...details) {
        return dispatch.call(this, event, ...details) || foretold.has(event);
      };
    });
  }
  for (const library of [terminiOfReading, terminiOfReplies])
    cure(library, 'unwrap', (unwrap) => {
      return function cured(end) {
        return termini.has(String(end?.descriptor?.value)) ? unwrap(end) : null;
      };
    });
  // It clears a kilobyte for each frame, a sixth of the CPU of a reply, and writes every byte of it: a piece of Node's pool does as well.
  for (const library of [ofReading, ofReplies])
    library.allocate_buffer = (size) => (size < 1_024 ? Buffer.alloc(size) : Buffer.allocUnsafe(size));
}

/**
 * The library's decoder only gets what can be decoded at a bounded cost. A message always comes out: with `null` in place of a body
 * that cannot be decoded, and if its properties cannot be either, with `undecodedProperties` and the hub's annotations, if possible (D190).
 * @param exactly for the messages of devices
 */
export function boundDecoding<Message extends { decode(bytes: Buffer | undefined): object }>(
  message: Message,
  frames: { read_frame(bytes: Buffer): object | null },
  exactly?: (library: Message) => ReturnType<typeof createExactDecoding>,
): void {
  cure(message, 'decode', (decode) => {
    const exact = exactly?.({ ...message });

    /** Undefined when the library fails. */
    function decoded(bytes: Buffer, end: number, properties = end): object | undefined {
      try {
        const part = end === bytes.length ? bytes : bytes.subarray(0, end);
        const library = decode(part);
        if (properties < end) exact?.correct(library, part, properties);
        return library;
      } catch {
        return undefined;
      }
    }

    return function cured(bytes = Buffer.alloc(0)) {
      const usual = exact?.usual(bytes);
      if (usual !== undefined) return usual;
      const { areDecodable, body, properties, annotated } = sectionsOf(bytes);
      const whole = areDecodable ? decoded(bytes, bytes.length, properties) : undefined;
      if (whole !== undefined) return whole;
      const withoutBody = body === undefined ? undefined : decoded(bytes, body, properties);
      if (withoutBody !== undefined) return Object.assign(withoutBody, { body: null });
      return Object.assign(decoded(bytes, annotated, properties) ?? {}, { body: undecodedProperties });
    };
  });
  cure(frames, 'read_frame', (read) => {
    return function cured(bytes) {
      if (!isFrameDecodable(bytes)) throw new RangeError('AMQP frame that cannot be decoded');
      return read(bytes);
    };
  });
}
