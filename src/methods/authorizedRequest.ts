import type { Deadline } from '../backends/deadline.ts';
import type { Steps } from '../tap/steps.ts';
import type { RequestFields } from './requestLog.ts';
import type { RequestTrace } from './requestSpan.ts';
import type { Route } from './route.ts';

/** A request of a caller who may invoke the method. */
export interface AuthorizedRequest {
  readonly fields: RequestFields;
  readonly route: Route;
  /** As the information model spells it. */
  readonly objectId: string;
  /** Type reference of the object. */
  readonly type: string;
  /** Of the caller's token. */
  readonly claims: Readonly<Record<string, unknown>>;
  readonly trace: RequestTrace;
  readonly steps: Steps;
  /** For all look-ups before the call to the hub. */
  readonly deadline: Deadline;
}
