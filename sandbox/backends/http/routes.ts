import type { Application } from '../applications.ts';
import type { Caller } from '../principalManager/caller.ts';
import { invalid, Problem } from './problem.ts';

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

/** What a route says: `body` is JSON text; none for 204. */
export interface Answer {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** One operation: `path` is a template such as `/objects/{objectId}/models/{model}`. */
export interface Route<C = Call> {
  readonly method: Method;
  readonly path: string;
  /** A POST that changes nothing: it takes no idempotency key. */
  readonly isSafe?: true;
  handle(call: C): Answer;
  /** Where it is absent, the route is for devices alone. */
  handleForApplication?(call: ApplicationCall): Answer;
}

export interface Matched<C> {
  readonly route: Route<C>;
  readonly params: Record<string, string>;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalid('the path is not percent-encoded correctly');
  }
}

function fits(template: readonly string[], segments: readonly string[]): boolean {
  return (
    template.length === segments.length &&
    template.every((part, i) => (part.startsWith('{') ? segments[i] !== '' : part === segments[i]))
  );
}

/**
 * Finds the route of a raw (still encoded) path: `%2F` stays inside its segment, `..` is a name like any other.
 * Unknown paths are refused with 404, known ones with another method with 405.
 */
export function createRouter<C>(routes: readonly Route<C>[]): (method: string, path: string) => Matched<C> {
  const table = routes.map((route) => ({ route, template: route.path.split('/') }));
  return (method, path) => {
    const segments = path.split('/');
    const candidates = table.filter(({ template }) => fits(template, segments));
    const hit = candidates.find(({ route }) => route.method === method);
    if (!hit) {
      if (candidates.length === 0) throw new Problem(404, 'Not found', 'there is no such route');
      throw new Problem(
        405,
        'Method not allowed',
        `the route knows ${candidates.map((c) => c.route.method).join(', ')}`,
      );
    }
    const params: Record<string, string> = {};
    hit.template.forEach((part, i) => {
      if (part.startsWith('{')) params[part.slice(1, -1)] = decodeSegment(segments[i] ?? '');
    });
    return { route: hit.route, params };
  };
}

/** A request's target, cut at its `?`. */
export function splitUrl(url: string): { path: string; query: string } {
  const mark = url.indexOf('?');
  return mark < 0 ? { path: url, query: '' } : { path: url.slice(0, mark), query: url.slice(mark + 1) };
}

/** One query parameter's value; given twice is refused (400), for readers would disagree about which one counts. */
export function single(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) throw invalid(`the query parameter ${name} is given more than once`);
  return values[0];
}

export const json = (status: number, body: unknown): Answer => ({ status, body: JSON.stringify(body) });
