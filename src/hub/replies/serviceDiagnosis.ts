import { todoOf } from '../../text/absence.ts';

/** What an operator can do when the hub's service endpoint cannot be reached; fields of a log line. */
export interface ServiceDiagnosis {
  readonly setting: string;
  readonly hubSaid: string;
  readonly todo: string;
}

const setting = 'HUB_SERVICE_CONNECTION_STRING';

/** By the names of the client's errors. Any other error means that there was no answer. */
const refusals: Readonly<Record<string, string>> = {
  UnauthorizedError:
    'SharedAccessKeyName and SharedAccessKey must be those of a policy of this hub that has service connect',
  DeviceNotFoundError: 'HostName must be that of the IoT hub, not of its event endpoint',
};

const compare = 'compare HostName with that of the hub';
const unclear = `${compare}, or wait until hub and network are back`;

export function diagnoseService(error: unknown): ServiceDiagnosis {
  const cause = causeOf(error);
  const code = 'code' in cause ? String(cause.code) : cause.name;
  // The client reports nothing while an address does not answer, so that our own time-out comes first (SDK trap 5).
  const hubSaid = cause.name === 'TooLate' ? 'nothing' : cause.message || cause.constructor.name;
  return { setting, hubSaid, todo: refusals[cause.constructor.name] ?? todoOf(code, compare) ?? unclear };
}

/** The client wraps the answer of the hub, or the error of the socket, in one that only says that it could not connect. */
function causeOf(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const { amqpError } = error as { amqpError?: unknown };
  return amqpError instanceof Error && amqpError !== error ? amqpError : error;
}
