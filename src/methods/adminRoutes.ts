import type { AdminRoute } from '../operations/admin.ts';
import type { RequestHandler } from './requestHandler.ts';

const mostRequests = 100;

/** What the front door says about itself on the admin port. */
export function frontDoorRoutes(handler: Pick<RequestHandler, 'requests' | 'inProgress'>): Record<string, AdminRoute> {
  return {
    '/requests': {
      about: 'the invocations in progress, the oldest first',
      get: () => ({
        inProgress: handler.inProgress(),
        requests: [...handler.requests()].slice(0, mostRequests).map(({ fields, since }) => ({
          ...fields,
          since: new Date(since).toISOString(),
          seconds: Math.round((Date.now() - since) / 1000),
        })),
      }),
    },
  };
}
