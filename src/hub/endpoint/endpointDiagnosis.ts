import { ownLimitOf, todoOf } from '../../text/absence.ts';
import { keyOrClock } from '../../text/clock.ts';
import type { ReadingDiagnosis } from '../reading/readingDiagnosis.ts';
import { NoEndpoint } from './lookUp.ts';

/** What a failed look-up of the event endpoint means for an operator. */
export interface LookUpDiagnosis {
  readonly cause: string;
  readonly setting: string;
  readonly hubSaid: string;
  readonly todo: string;
  /** The hub has answered. */
  readonly isAnswer: boolean;
}

const setting = 'HUB_SERVICE_CONNECTION_STRING';
const compare = 'compare HostName of HUB_SERVICE_CONNECTION_STRING with that of the hub';
const right = 'SharedAccessKeyName and SharedAccessKey must be those of a policy of this hub that has service connect';

export function diagnoseLookUp(error: unknown): LookUpDiagnosis {
  const { code, message } = error instanceof NoEndpoint ? error : new NoEndpoint(String(error), '');
  const isAnswer = code.includes(':');
  const todo = code === 'amqp:unauthorized-access' ? keyOrClock(right, message) : todoOf(code, compare);
  const more = isAnswer
    ? 'if it stays, set HUB_EVENTS_CONNECTION_STRING'
    : 'nothing, if it passes: the hub is asked again';
  return { cause: code || 'NoEndpoint', setting, hubSaid: message, todo: todo ?? more, isAnswer, ...ownLimitOf(code) };
}

/** What an error of the endpoint means that was looked up: no setting names it. */
export const ofLookedUp =
  (hubName: string, consumerGroup: string) =>
  (diagnosis: ReadingDiagnosis): ReadingDiagnosis => {
    const { setting: blamed, ...found } = diagnosis;
    const { cause, hubSaid } = found;
    if (blamed === 'HUB_CONSUMER_GROUP') {
      const create = `az iot hub consumer-group create --hub-name ${hubName} --name '${consumerGroup}'`;
      const orCreate = `if it stays, HUB_CONSUMER_GROUP is missing at this endpoint: create it with ${create}`;
      return { ...found, todo: `nothing, if the hub fails over: the endpoint is looked up again; ${orCreate}` };
    }
    if (blamed !== 'HUB_EVENTS_CONNECTION_STRING') return diagnosis;
    if (cause.startsWith('UnauthorizedError')) return { ...diagnosis, setting, todo: keyOrClock(right, hubSaid) };
    return { ...diagnosis, setting, todo: `nothing, if it passes: the endpoint is looked up again; else ${compare}` };
  };
