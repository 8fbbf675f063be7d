import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseMetrics, type Sample } from '../../test/support/prom.ts';
import type { Alert } from '../alerts/alert.ts';
import { alerts } from '../alertTables.ts';

/** What a program’s `/metrics` said, scrape after scrape; undefined when it did not answer. */
export type Scrapes = readonly (readonly Sample[] | undefined)[];

/** Series as `promtool test rules` takes them. */
export type InputSeries = Readonly<{ series: string; values: string }>;

/** Metrics that these alerts read, and others; those of all alerts and dashboards where no alert is to fire. */
export function askedOf(fires: readonly string[], others: readonly string[] = []): ReadonlySet<string> {
  const everyAlert: readonly Alert[] = Object.values(alerts).flat();
  const wanted = everyAlert.filter(({ id }) => fires.length === 0 || fires.includes(id));
  const panels = fires.length === 0 ? dashboards.flatMap((dashboard) => dashboard.panels) : [];
  const expressions = [
    ...wanted.map(({ metric }) => metric),
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ];
  return new Set([...others, ...(expressions.join(' ').match(/\w+/g) ?? [])]);
}

/**
 * The series of an instance whose name is one of these, each with a value for every scrape, or `_` for none and before it `stale`,
 * as Prometheus marks a series that ends; and `up`.
 */
export function seriesOf(
  scrapes: Scrapes,
  isWanted: (name: string) => boolean,
  target: Readonly<Record<'job' | 'instance', string>>,
): readonly InputSeries[] {
  const all = new Map<string, (number | undefined)[]>();
  function put(name: string, labels: object, index: number, value: number) {
    const written = Object.entries({ ...labels, ...target }).map(([key, text]) => `${key}=${JSON.stringify(text)}`);
    const series = `${name}{${written.join(',')}}`;
    const values = all.get(series) ?? Array.from<undefined>({ length: scrapes.length });
    values[index] = Number(value.toPrecision(6));
    all.set(series, values);
  }
  scrapes.forEach((samples, index) => {
    if (isWanted('up')) put('up', {}, index, samples === undefined ? 0 : 1);
    for (const { name, labels, value } of samples ?? []) if (isWanted(name)) put(name, labels, index, value);
  });
  return [...all].map(([series, values]) => ({ series, values: shortened(values) })).toSorted(bySeries);
}

const bySeries = (one: InputSeries, other: InputSeries) => (one.series < other.series ? -1 : 1);

/** `5x2` is three times 5, `_x2` twice nothing, `stale` the first nothing behind a value. */
export function shortened(given: readonly (number | 'stale' | undefined)[]): string {
  const values = given.map((value, index) =>
    value === undefined && typeof given[index - 1] === 'number' ? 'stale' : value,
  );
  const parts: string[] = [];
  for (let index = 0; index < values.length; ) {
    let end = index + 1;
    while (end < values.length && values[end] === values[index]) end += 1;
    const [value, times] = [values[index], end - index];
    if (value === undefined) parts.push(`_x${times}`);
    else parts.push(times === 1 || value === 'stale' ? String(value) : `${value}x${times - 1}`);
    index = end;
  }
  return parts.join(' ');
}

interface Dashboard {
  readonly uid: string;
  readonly title: string;
  /** Its variables, with the queries for their values. */
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
  readonly panels: readonly {
    readonly title: string;
    /** `legendFormat` has labels in `{{…}}`. */
    readonly targets: readonly { readonly legendFormat: string; readonly expr: string }[];
  }[];
}

/** What Grafana is asked for. The files are edited in Grafana, or by hand. */
export const dashboards = ['device-messaging', 'device-messaging-methods'].map(
  (name): Dashboard => JSON.parse(readFileSync(`deploy/monitoring/dashboards/${name}.json`, 'utf8')),
);

/** A start takes seconds, not minutes: no more scrapes without an answer of the only instance follow each other. */
const mostMissed = 2;

export function createScraper(urls: readonly string[]) {
  const scrapes = urls.map((): Scrapes[number][] => []);
  return {
    scrapes,
    /**
     * Asks all instances so many times.
     * @param everyMs real time between two scrapes, which are a minute apart where they are played (D388)
     */
    async scrape(count: number, everyMs = 250) {
      for (let index = 0; index < count; index += 1) {
        const scraped = await Promise.all(urls.map(scrapeOnce));
        const isOneOfMany = urls.length > 1 || scraped[0] !== undefined;
        if (isOneOfMany || scrapes[0]?.slice(-mostMissed).some((one) => one !== undefined))
          scraped.forEach((one, instance) => void scrapes[instance]?.push(one));
        await sleep(everyMs);
      }
    },
  };
}

async function scrapeOnce(url: string): Promise<Scrapes[number]> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    return response.ok ? parseMetrics(await response.text()) : undefined;
  } catch {
    return undefined;
  }
}

export const recordingFolder = 'test/deploy/fixtures';

export const recordingFile = (name: string): string => `${recordingFolder}/${name.replaceAll(' ', '-')}.txt`;

export type Recording = Readonly<{ scrapes: number; series: readonly InputSeries[] }>;

/** A line with the number of scrapes, then one for each course of values: the series that have it, and it behind a tab. */
export function print({ scrapes, series }: Recording): string {
  const courses = new Map<string, string[]>();
  for (const { series: name, values } of series) courses.set(values, [...(courses.get(values) ?? []), name]);
  const lines = [...courses].map(([values, names]) => [...names, values].join('\t'));
  return [`${scrapes} scrapes`, ...lines, ''].join('\n');
}

export function readRecording(name: string): Recording {
  const [first = '', ...lines] = readFileSync(recordingFile(name), 'utf8').trimEnd().split('\n');
  const series = lines.flatMap((line) => {
    const names = line.split('\t');
    const values = names.pop() ?? '';
    return names.map((series) => ({ series, values }));
  });
  return { scrapes: Number.parseInt(first, 10), series };
}
