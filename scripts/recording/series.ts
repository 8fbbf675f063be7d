import type { Sample } from '../../test/support/prom.ts';
import type { Alert } from '../alerts/alert.ts';
import { alerts } from '../alertTables.ts';
import { dashboards } from './dashboards.ts';

/** What a program’s `/metrics` said, scrape after scrape; undefined when it did not answer. */
export type Scrapes = readonly (readonly Sample[] | undefined)[];

/** Series as `promtool test rules` takes them. */
export interface InputSeries {
  readonly series: string;
  readonly values: string;
}

/** Metrics that these alerts read, and others; those of all alerts and dashboards where no alert is to fire. */
export function askedOf(fires: readonly string[], others: readonly string[] = []): ReadonlySet<string> {
  const everyAlert: readonly Alert[] = Object.values(alerts).flat();
  const wanted = everyAlert.filter(({ id }) => fires.length === 0 || fires.includes(id));
  const panels = fires.length === 0 ? dashboards.flatMap((dashboard) => dashboard.panels) : [];
  const expressions = [
    ...wanted.map(({ metric = '' }) => metric),
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ];
  return new Set([...others, ...(expressions.join(' ').match(/\w+/g) ?? [])]);
}

/** The series whose name is one of these, each with a value, or `_` for none, for every scrape. */
export function seriesOf(scrapes: Scrapes, isWanted: (name: string) => boolean, job: string): readonly InputSeries[] {
  const all = new Map<string, (number | undefined)[]>();
  scrapes.forEach((samples = [], index) => {
    for (const { name, labels, value } of samples) {
      if (!isWanted(name)) continue;
      const written = Object.entries({ ...labels, instance: 'one', job }).map(
        ([key, text]) => `${key}=${JSON.stringify(text)}`,
      );
      const series = `${name}{${written.join(',')}}`;
      const values = all.get(series) ?? Array.from<undefined>({ length: scrapes.length });
      values[index] = Number(value.toPrecision(6));
      all.set(series, values);
    }
  });
  return [...all].map(([series, values]) => ({ series, values: shortened(values) })).toSorted(bySeries);
}

const bySeries = (one: InputSeries, other: InputSeries) => (one.series < other.series ? -1 : 1);

/** `5x2` is three times 5, `_x2` twice nothing. */
function shortened(values: readonly (number | undefined)[]): string {
  const parts: string[] = [];
  for (let index = 0; index < values.length; ) {
    let end = index + 1;
    while (end < values.length && values[end] === values[index]) end += 1;
    const [value, times] = [values[index], end - index];
    if (value === undefined) parts.push(`_x${times}`);
    else parts.push(times === 1 ? String(value) : `${value}x${times - 1}`);
    index = end;
  }
  return parts.join(' ');
}
