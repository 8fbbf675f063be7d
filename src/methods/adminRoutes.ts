import type { MethodBackends } from '../backends/backends.ts';
import type { InvocationCourse } from '../observing/invocationRecords.ts';
import type { AdminRoute } from '../operations/adminServer.ts';
import { ageOf } from '../operations/ages.ts';
import { shownBackends } from '../operations/shownBackends.ts';
import { inWords } from '../operations/shownWork.ts';
import type { RequestHandler } from './requestHandler.ts';

const mostRequests = 100;

interface Sources {
  readonly handler: Pick<RequestHandler, 'requests' | 'inProgress'>;
  readonly backends: Pick<MethodBackends, 'states'>;
}

/** What the front door says about itself on the admin port. */
export function frontDoorRoutes({ handler, backends }: Sources): Readonly<Record<string, AdminRoute>> {
  return {
    '/requests': {
      about: 'the invocations in progress, the oldest first, and what each waits for',
      get: () => ({
        inProgress: handler.inProgress(),
        requests: [...handler.requests()].slice(0, mostRequests).map(shownRequest),
      }),
    },
    '/backends': { about: 'circuits, connections and caches', get: () => shownBackends(backends.states()) },
  };
}

function shownRequest({ fields, begunAt, open }: InvocationCourse) {
  const waitsFor = [...open].map(inWords).join('; ');
  return { ...fields, ...ageOf(begunAt), waitsFor: waitsFor === '' ? 'its body, or nothing' : waitsFor };
}
