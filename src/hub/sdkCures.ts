import { Connection, ConnectionEvents, Receiver } from 'rhea-promise';
import { AmqpConnection, errors } from './replies/serviceSdk.ts';

/**
 * Cures for faults of the hub's client libraries that cannot be avoided from outside. They are written against the
 * pinned versions, and each has a regression test.
 */
export function cureHubSdks(): void {
  boundPrefetch();
  reportClosedConnections();
  breakErrorCycles();
  failSendsOfClosedConnections();
}

/**
 * The event client grants new credit in every receive cycle without subtracting what the hub still has of it, so a slow
 * consumer ends up with the whole backlog in its memory. Grant only what is missing.
 */
function boundPrefetch(): void {
  const granted = Receiver.prototype.addCredit;
  if (granted.name === 'addMissingCredit') return;
  Receiver.prototype.addCredit = function addMissingCredit(this: Receiver, credit: number) {
    const missing = credit - this.credit;
    if (missing > 0) granted.call(this, missing);
  };
}

/**
 * A connection that the hub closes is not reported as disconnected, unless the reason is `amqp:connection:forced`. So the
 * event client opens the same connection again with the links of the old one, which it takes for open: nothing is
 * received for a minute, then a TypeError in a timer ends the process. A connection that the peer closes counts as lost.
 */
function reportClosedConnections(): void {
  const open = Connection.prototype.open;
  if (open.name === 'openWatched') return;
  const watched = new WeakSet<Connection>();
  Connection.prototype.open = function openWatched(this: Connection, options) {
    if (!watched.has(this)) {
      watched.add(this);
      const inner: ClosingConnection = Reflect.get(this, '_connection');
      this.on(ConnectionEvents.connectionClose, () => {
        if (!inner.is_closed()) inner.closed_with_non_fatal_error = true;
      });
    }
    return open.call(this, options);
  };
}

/** What the client's own connection has, left out of its typings. */
interface ClosingConnection {
  /** Also when the close of the other side only answers one of ours. */
  is_closed(): boolean;
  /** Whether the end of the socket is to be reported all the same. */
  closed_with_non_fatal_error: boolean;
}

/**
 * When its connection drops while a send is open, the service client makes an error its own cause, then recurses over
 * causes until the stack overflows in an event handler. An error cannot be its own cause.
 */
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

/**
 * When the hub closes its connection, the service client first waits up to 45 s for links to be detached that the hub has
 * forgotten, and its sends wait as long. They fail at once when the client hears of it at the beginning, as it does at
 * the end.
 */
function failSendsOfClosedConnections(): void {
  const setHandler = AmqpConnection.prototype.setDisconnectHandler;
  if (setHandler.name === 'setHandlers') return;
  AmqpConnection.prototype.setDisconnectHandler = function setHandlers(this: AmqpConnection, onDisconnect) {
    setHandler.call(this, onDisconnect);
    const states: ConnectionStates = Reflect.get(this, '_fsm');
    states.on('transition', ({ fromState, toState }) => {
      const isClosedByHub = Reflect.get(this, '_connectionCloseOccurred') === true;
      if (fromState !== 'connected' || toState !== 'disconnecting' || !isClosedByHub) return;
      // A client that closes the connection itself takes no notice of this.
      setImmediate(() => onDisconnect(new errors.NotConnectedError('the hub has closed the connection')));
    });
  };
}

/** The state machine of the client's connection. */
interface ConnectionStates {
  on(event: 'transition', listener: (change: { fromState: string; toState: string }) => void): void;
}
