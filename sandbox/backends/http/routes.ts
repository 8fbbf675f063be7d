import { createRouter, type Match } from '../../hub/http/routes.ts';
import type { Answer, Unanswered } from '../../hub/http/server.ts';
import type { Application } from '../applications.ts';
import type { Caller } from '../principalManager/caller.ts';
import { invalid, Problem } from './problem.ts';

export type { Answer };

/** A call that reached its route: who, with which path parameters (decoded, never split again), query and body text. */
export interface Call {
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly text: string;
}

/** A call of an application that reached its route. */
export interface ApplicationCall {
  readonly application: Application;
  readonly params: Readonly<Record<string, string>>;
  /** What the object is read for: the header `x-svc-operation`. */
  readonly operation: string | undefined;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** One operation: `path` is a template such as `/objects/{objectId}/models/{model}`. */
export interface Route<C = Call, A extends Answer | Unanswered = Answer> {
  readonly method: Method;
  readonly path: string;
  /** A POST that changes nothing: it takes no idempotency key. */
  readonly isSafe?: true;
  handle(call: C): A;
  /** Where it is absent, the route is for devices alone. */
  handleForApplication?(call: ApplicationCall): Answer;
}

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

/** One query parameter's value; given twice is refused (400), for readers would disagree about which one counts. */
export function single(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) throw invalid(`the query parameter ${name} is given more than once`);
  return values[0];
}

export const json = (status: number, body: unknown): Answer => ({ status, body: JSON.stringify(body) });
