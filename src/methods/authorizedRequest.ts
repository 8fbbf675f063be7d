import type { Deadline } from '../backends/deadline.ts';
import type { InvocationCourse } from '../observing/invocationRecords.ts';
import type { Route } from './route.ts';

/** A request of a caller who may invoke the method. */
export interface AuthorizedRequest {
  readonly course: InvocationCourse;
  readonly route: Route;
  /** As the information model spells it. */
  readonly objectId: string;
  /** Type reference of the object. */
  readonly type: string;
  /** Of the caller's token. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** For all look-ups before the call to the hub. */
  readonly deadline: Deadline;
}
