import { NoToken, noTokenTodo } from '../../identity/identity.ts';
import { ownLimitOf, todoOf } from '../../text/absence.ts';
import { keyOrClock } from '../../text/clock.ts';

/** What an operator can do when the hub's service endpoint cannot be reached; fields of a log line. */
export interface ServiceDiagnosis {
  readonly setting: string;
  readonly hubSaid: string;
  readonly todo: string;
}

/** By the names of the client's errors (fact access.wrong-key). Any other error means that there was no answer. */
const refusals: Readonly<Record<string, string>> = {
  UnauthorizedError:
    'SharedAccessKeyName and SharedAccessKey must be those of a policy of this hub that has service connect',
  DeviceNotFoundError: 'HostName must be that of the IoT hub, not of its event endpoint',
};

/** The same for an identity. */
const refusalsOfIdentity: Readonly<Record<string, string>> = {
  UnauthorizedError:
    'give the identity a role at this hub that may send messages, and compare IDENTITY_HUB_SCOPE with the cloud of the hub (docs/identity.md)',
  DeviceNotFoundError: 'HUB_HOST_NAME must be that of the IoT hub, not of its event endpoint',
};

/** @param isByIdentity instead of a connection string */
export function diagnoseService(error: unknown, isByIdentity = false): ServiceDiagnosis {
  const compare = isByIdentity ? 'compare HUB_HOST_NAME with that of the hub' : 'compare HostName with that of the hub';
  const setting = isByIdentity ? 'HUB_HOST_NAME' : 'HUB_SERVICE_CONNECTION_STRING';
  const cause = causeOf(error);
  const code = 'code' in cause ? String(cause.code) : cause.name;
  // The client reports nothing while an address does not answer, so that our own time-out comes first (SDK trap 5).
  const hubSaid = cause.name === 'TooLate' ? 'nothing' : cause.message || cause.constructor.name;
  if (cause instanceof NoToken) return { setting: 'IDENTITY', hubSaid: cause.message, todo: noTokenTodo };
  const refusal = (isByIdentity ? refusalsOfIdentity : refusals)[cause.constructor.name];
  const mend = refusal && isRefusal(cause) ? keyOrClock(refusal, hubSaid) : refusal;
  const unclear = `${compare}, or wait until hub and network are back`;
  return { setting, hubSaid, todo: mend ?? todoOf(code, compare) ?? unclear, ...ownLimitOf(code) };
}

/** Whether the hub has answered that this client may not connect. */
export const isRefusal = (error: unknown): boolean => causeOf(error).constructor.name === 'UnauthorizedError';

/** The client wraps the answer of the hub, or the error of the socket, in one that only says that it could not connect. */
function causeOf(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const { amqpError } = error as { amqpError?: unknown };
  return amqpError instanceof Error && amqpError !== error ? amqpError : error;
}
