import { useLayoutEffect, useState } from 'preact/hooks';

/** Where in the page we are: kept in the address, so that a reload and a link lead there again. */
export interface Route {
  readonly view: string;
  readonly query: URLSearchParams;
}

function read(): Route {
  const [view = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  return { view, query: new URLSearchParams(query) };
}

export const linkTo = (view: string, query: Readonly<Record<string, string>> = {}): string => {
  const text = new URLSearchParams(query).toString();
  return `#/${view}${text === '' ? '' : `?${text}`}`;
};

/** Changes parts of the query, without a step in the history; an empty value takes one away. */
export function changeQuery(changes: Readonly<Record<string, string>>): void {
  const { view, query } = read();
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') query.delete(name);
    else query.set(name, value);
  }
  history.replaceState(null, '', linkTo(view, Object.fromEntries(query)));
  dispatchEvent(new HashChangeEvent('hashchange'));
}

export function useRoute(): Route {
  const [route, setRoute] = useState(read);
  // At once: what changes before the first picture would be missed.
  useLayoutEffect(() => {
    const listen = () => setRoute(read());
    addEventListener('hashchange', listen);
    return () => removeEventListener('hashchange', listen);
  }, []);
  return route;
}
