import { noTokenTodo } from '../../identity/identity.ts';
import { ownLimitOf, todoOf } from '../../text/absence.ts';
import { keyOrClock } from '../../text/clock.ts';
import { UnreadableCheckpoint } from '../stores/storedProgress.ts';
import { ForeignCheckpoint, OldInformation } from './startPosition.ts';

/** What an error of the hub's event endpoint means for an operator. */
export interface ReadingDiagnosis {
  /** Errors of the same cause are one source of trouble. */
  readonly cause: string;
  readonly level: 'warn' | 'error';
  /** The setting to look at; absent when none is known to be wrong. */
  readonly setting?: string;
  readonly hubSaid: string;
  readonly todo: string;
  /** The hub has answered, so that a restart of the service would change nothing. */
  readonly isAnswer: boolean;
  /** The hub has nothing at the start position. */
  readonly refusesPosition?: true;
}

/** The request that failed: for the properties of the hub, or for the events of a partition. */
export type HubRequest = 'looking' | 'reading';

type Meaning = Omit<ReadingDiagnosis, 'cause' | 'hubSaid' | 'isAnswer' | 'level'> & { readonly level?: 'error' };

const connection = 'HUB_EVENTS_CONNECTION_STRING';
const compare = 'compare Endpoint with that of the hub, which changes when the hub fails over';
const mendCheckpoint =
  'if the hub was made anew or has failed over, stop the instances and remove the partition’s checkpoint to read it from HUB_START_POSITION';
const correctCheckpoint =
  'stop the instances and correct the checkpoint that is named, or remove it to read the partition from HUB_START_POSITION';
/**
 * Refusals by the hub, by the codes of the client's errors (facts access.wrong-key, reading.no-such-group,
 * reading.no-such-partition, reading.beyond-end).
 */
const refusals: Readonly<Record<string, Meaning | Record<HubRequest, Meaning>>> = {
  UnauthorizedError: {
    setting: connection,
    todo: 'SharedAccessKeyName and SharedAccessKey must be those of a policy of this hub that may listen (at an IoT hub: service connect)',
  },
  MessagingEntityNotFoundError: {
    looking: { setting: connection, todo: 'EntityPath must be the Event Hub-compatible name of the hub' },
    reading: {
      setting: 'HUB_CONSUMER_GROUP',
      todo: 'create this consumer group at the hub, or name one that is there; if the hub has failed over, give Endpoint and EntityPath of the other one',
    },
  },
  ArgumentOutOfRangeError: {
    todo: 'the hub has no such partition any more: it was made anew with fewer. Restart the service to count them again',
  },
  ArgumentError: { todo: mendCheckpoint, level: 'error', refusesPosition: true },
};

/** What the same means when the hub is read with an identity. */
export function ofIdentity(diagnosis: ReadingDiagnosis): ReadingDiagnosis {
  const { cause, setting, hubSaid } = diagnosis;
  if (cause === 'NoToken') return { ...diagnosis, setting: 'IDENTITY', todo: noTokenTodo };
  if (setting !== connection) return diagnosis;
  if (cause.startsWith('UnauthorizedError'))
    return { ...diagnosis, setting: 'HUB_EVENTS_NAMESPACE', todo: keyOrClock(giveRole, hubSaid) };
  return { ...diagnosis, setting: 'HUB_EVENTS_NAMESPACE', todo: compareNamespace };
}

const compareNamespace = 'compare HUB_EVENTS_NAMESPACE and HUB_EVENTS_NAME with the event hub to which the hub routes';
const giveRole =
  'give the identity the role Azure Event Hubs Data Receiver at the event hub, and compare IDENTITY_EVENTS_SCOPE with its cloud (docs/identity.md)';

export function diagnoseReading(error: unknown, asking: HubRequest): ReadingDiagnosis {
  const { name, message, code } = innermost(error);
  if (error instanceof ForeignCheckpoint)
    return { cause: name, level: 'error', hubSaid: message, todo: mendCheckpoint, isAnswer: true };
  if (error instanceof UnreadableCheckpoint)
    return { cause: name, level: 'error', hubSaid: message, todo: correctCheckpoint, isAnswer: true };
  if (error instanceof OldInformation)
    return {
      cause: name,
      level: 'warn',
      hubSaid: message,
      todo: 'nothing yet: the hub is asked again',
      isAnswer: true,
    };
  const refusal = refusals[code];
  if (refusal !== undefined) {
    const meaning = 'looking' in refusal ? refusal[asking] : refusal;
    const todo = code === 'UnauthorizedError' ? keyOrClock(meaning.todo, message) : meaning.todo;
    return { cause: `${code} while ${asking}`, level: 'warn', hubSaid: message, isAnswer: true, ...meaning, todo };
  }
  const cause = code || name;
  const todo = todoOf(cause, compare);
  const meaning = todo ? { setting: connection, todo } : { todo: 'nothing, if it passes: the service tries again' };
  return { cause, level: 'warn', hubSaid: message || name, isAnswer: false, ...meaning, ...ownLimitOf(code) };
}

/** After its last retry the client wraps all errors into one without a useful message (SDK trap 17). */
function innermost(error: unknown): { name: string; message: string; code: string } {
  if (error instanceof AggregateError && error.errors.length > 0) return innermost(error.errors[0]);
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), code: '' };
  const { name, message } = error;
  return { name, message, code: 'code' in error && typeof error.code === 'string' ? error.code : '' };
}
