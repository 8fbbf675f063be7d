/** One method on one path. */
export interface Routed {
  readonly method: string;
  /** Segments; `{name}` stands for any that is not empty. */
  readonly path: string;
}

export interface Match<R> {
  readonly route: R;
  /** What stands for the names in the path, decoded and never split again. */
  readonly params: Readonly<Record<string, string>>;
}

/** No route fits. */
export interface NoMatch {
  readonly route: undefined;
  readonly params: undefined;
  /** Methods that the path has; empty when there is no such path. */
  readonly allowed: readonly string[];
}

export interface RouterOptions {
  /** Fixed segments, which are lower case in the routes, may come in any. */
  readonly ignoreCase?: boolean;
  /** What stands for a segment that is not percent-encoded correctly; default the segment as it is. */
  readonly malformed?: (segment: string) => string;
}

/** Finds the route of a raw (still encoded) path: `%2F` stays inside its segment, `..` is a name like any other. */
export function createRouter<R extends Routed>(
  routes: readonly R[],
  { ignoreCase = false, malformed = (segment) => segment }: RouterOptions = {},
): (method: string, path: string) => Match<R> | NoMatch {
  const table = routes.map((route) => ({ route, form: route.path.split('/') }));

  const fits = (form: readonly string[], segments: readonly string[], folded: readonly string[]): boolean =>
    form.length === segments.length &&
    form.every((part, i) => (part.startsWith('{') ? segments[i] !== '' : part === folded[i]));

  const decode = (segment: string): string => {
    try {
      return decodeURIComponent(segment);
    } catch {
      return malformed(segment);
    }
  };

  return (method, path) => {
    const segments = path.split('/');
    const folded = ignoreCase ? path.toLowerCase().split('/') : segments;
    const allowed: string[] = [];
    for (const { route, form } of table) {
      if (!fits(form, segments, folded)) continue;
      if (route.method !== method) {
        allowed.push(route.method);
        continue;
      }
      const params: Record<string, string> = {};
      for (const [i, part] of form.entries())
        if (part.startsWith('{')) params[part.slice(1, -1)] = decode(segments[i] ?? '');
      return { route, params };
    }
    return { route: undefined, params: undefined, allowed };
  };
}

/** A request's target, cut at its `?`. */
export function splitUrl(url: string): { path: string; query: string } {
  const mark = url.indexOf('?');
  return mark < 0 ? { path: url, query: '' } : { path: url.slice(0, mark), query: url.slice(mark + 1) };
}
