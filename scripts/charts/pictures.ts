import type { LineChart } from '../svg/lineChart.ts';
import { mostLines } from '../svg/style.ts';
import { highestOf, quantileOf, rateOf, type Scrape, spansWhere, valuesOf } from './series.ts';

type Shades = NonNullable<LineChart['shades']>;
type Picture = Pick<LineChart, 'title' | 'unit' | 'lines'> & Partial<LineChart>;

/** Seconds over which rates and quantiles are taken. */
const window = 3;

const backends = {
  informationModel: 'information model',
  typeRegistry: 'type registry',
  principalManager: 'principal manager',
} as const;
const named = Object.entries(backends);

const handled = 'device_messaging_handled_messages_total';
const replies = 'device_messaging_replies_total';

/** The charts of a run by their files below `docs/charts`, made of nothing but what `/metrics` said. */
const pictures: Readonly<Record<string, (scrapes: readonly Scrape[]) => Picture>> = {
  'handled.svg': (scrapes) => ({
    title: 'Messages handled, by result code',
    unit: 'messages/s',
    lines: valuesIn(scrapes, handled, 'device_messaging_code', 'ok').map((code) => ({
      label: code,
      points: rateOf(scrapes, handled, { device_messaging_code: code }, window),
    })),
  }),
  'behind.svg': (scrapes) => ({
    title: 'How far behind: age of the oldest message',
    unit: 'seconds',
    lines: [
      {
        label: 'read, not handled to its end',
        points: highestOf(scrapes, 'device_messaging_partition_oldest_duration'),
      },
      { label: 'not done, read or not', points: highestOf(scrapes, 'device_messaging_partition_behind_duration') },
    ],
  }),
  'waiting.svg': (scrapes) => ({
    title: 'Where messages wait',
    unit: 'messages',
    lines: [
      { label: 'in work', points: placed(scrapes, 'work') },
      { label: 'in memory', points: placed(scrapes, 'memory') },
      { label: 'on disk', points: placed(scrapes, 'disk') },
    ],
  }),
  'backends.svg': (scrapes) => ({
    title: 'Requests to the backends: 95th percentile of the duration, and open circuits',
    unit: 'seconds',
    isLogarithmic: true,
    lines: named.map(([key, label]) => ({
      label,
      points: quantileOf(scrapes, {
        ...{ name: 'http_client_request_duration', labels: { device_messaging_backend: key } },
        ...{ quantile: 0.95, window },
      }),
    })),
    strips: named.flatMap(([key, label]) => {
      const spans = spansWhere(valuesOf(scrapes, 'device_messaging_backend_out', { device_messaging_backend: key }));
      return spans.length === 0 ? [] : [{ label: `circuit open: ${label}`, spans }];
    }),
  }),
  'replies.svg': (scrapes) => ({
    title: 'Replies, by what became of them',
    unit: 'replies/s',
    lines: valuesIn(scrapes, replies, 'device_messaging_result', 'delivered').map((result) => ({
      label: result,
      points: rateOf(scrapes, replies, { device_messaging_result: result }, window),
    })),
    strips: notFetching(scrapes),
  }),
  'unsettled.svg': (scrapes) => ({
    title: 'Replies that the hub has not settled',
    unit: 'replies',
    lines: (['waiting', 'sent'] as const).map((place) => ({
      label: place === 'waiting' ? 'waiting for their turn or for another attempt' : 'sent',
      points: valuesOf(scrapes, 'device_messaging_replies_unsettled', { device_messaging_place: place }),
    })),
    strips: notFetching(scrapes),
  }),
};

const placed = (scrapes: readonly Scrape[], place: string) =>
  valuesOf(scrapes, 'device_messaging_partition_messages', { device_messaging_place: place });

const notFetching = (scrapes: readonly Scrape[]) => [
  {
    label: 'the service knows devices that do not fetch',
    spans: spansWhere(valuesOf(scrapes, 'device_messaging_devices_not_fetching')),
  },
];

export const pictureNames = Object.keys(pictures);

/** @returns charts as data, by their file names */
export function picturesOf(
  scrapes: readonly Scrape[],
  shades: Shades,
  end: number,
): Readonly<Record<string, LineChart>> {
  const common = { shades, end, timeTitle: 'seconds since the start of the run' };
  return Object.fromEntries(Object.entries(pictures).map(([file, make]) => [file, { ...common, ...make(scrapes) }]));
}

/** The values of an attribute that were counted, the usual one first. */
function valuesIn(scrapes: readonly Scrape[], name: string, label: string, usual: string): readonly string[] {
  const counted = (scrapes.at(-1)?.samples ?? []).filter((one) => one.name === name && one.value > 0);
  const values = new Set(counted.map(({ labels }) => labels[label] ?? ''));
  const others = [...values].filter((value) => value !== usual).toSorted();
  return [usual, ...others].slice(0, mostLines);
}
