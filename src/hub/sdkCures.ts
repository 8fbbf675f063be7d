import { Receiver } from 'rhea-promise';
import { errors } from './replies/serviceSdk.ts';

/**
 * Cures for two faults of the hub's client libraries that cannot be avoided from outside. Both are written against the
 * pinned versions and have a regression test.
 */
export function cureHubSdks(): void {
  boundPrefetch();
  breakErrorCycles();
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
