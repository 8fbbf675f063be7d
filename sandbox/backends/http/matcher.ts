import { createRouter, type Match } from '../../../iot-hub-emulator/src/http/routes.ts';
import type { Answer, Unanswered } from '../../../iot-hub-emulator/src/http/server.ts';
import { invalid, Problem } from '../requests/problem.ts';
import type { Route } from '../routes/route.ts';

/** Finds the route of a raw path. Unknown paths are refused with 404, known ones with another method with 405. */
export function createMatcher<C, A extends Answer | Unanswered>(
  routes: readonly Route<C, A>[],
): (method: string, path: string) => Match<Route<C, A>> {
  const find = createRouter(routes, {
    malformed: () => {
      throw invalid('the path is not percent-encoded correctly');
    },
  });
  return (method, path) => {
    const found = find(method, path);
    if (found.route) return found;
    if (found.allowed.length === 0) throw new Problem(404, 'Not found', 'there is no such route');
    throw new Problem(405, 'Method not allowed', `the route knows ${found.allowed.join(', ')}`);
  };
}
