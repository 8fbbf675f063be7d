import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { anchorOf } from '../../scripts/decisions.ts';
import { edgeEpisodes } from '../../scripts/recording/edgeEpisodes.ts';
import { episodes } from '../../scripts/recording/episodes.ts';
import { dashboards, readRecording, recordingFile, recordingFolder } from '../../scripts/recording/series.ts';
import { goodScrapes } from '../../scripts/recording/stage.ts';
import { documents } from './kustomize.ts';
import { ask, isSkipped, promtool } from './promtool.ts';

// What `/metrics` said in real troubles is played to the rules by Prometheus’ own tool, with a minute between two scrapes (D388).

type Rule = Readonly<{ alert: string; expr: string; annotations: Readonly<Record<string, string>> }>;
type Rules = Readonly<{ groups: readonly { readonly rules: readonly Rule[] }[] }>;
const rulesIn = (file: string) => (parse(readFileSync(file, 'utf8')) as Rules).groups.flatMap(({ rules }) => rules);
const files = ['deploy/monitoring/alerts.yaml', 'deploy/monitoring/edge-alerts.yaml'] as const;
const [rulesOfServer, rulesOfEdge] = files;

/** With the file whose rules are for them. */
const recorded = [
  ...Object.entries(episodes).map(([name, { fires, before, environment }]) => ({
    name,
    fires,
    file: rulesOfServer,
    startsInTrouble: before !== undefined || environment !== undefined,
  })),
  ...Object.entries(edgeEpisodes).map(([name, { fires }]) => ({
    name,
    fires,
    file: rulesOfEdge,
    startsInTrouble: false,
  })),
];

/** Alerts whose trouble no recording has, and why. */
const unrecorded: Readonly<Record<string, string>> = {
  HubFailedOver: 'the hub emulator of a recording keeps its address; test/hub/failover.test.ts has hubs that fail over',
  MessageStuck: 'a recording would take a quarter of an hour',
  EventUndecodable:
    'test/hub/decodable.test.ts has what a reader would not survive, and the hub takes none of it from a device',
  EventUnattributed: 'the hub emulator stamps every event, as the built-in endpoint does',
  EdgeDefect: 'a defect that is known is repaired',
};

it('every rule names a chapter of docs/troubleshooting.md', () => {
  const headings = readFileSync('docs/troubleshooting.md', 'utf8').match(/^#+ .*$/gm) ?? [];
  const anchors = headings.map((heading) => `docs/troubleshooting.md#${anchorOf(heading.replace(/^#+ /, ''))}`);
  const wrong = files.flatMap(rulesIn).filter(({ annotations }) => !anchors.includes(annotations['runbook'] ?? ''));
  expect(wrong.map(({ alert }) => alert)).toEqual([]);
});

it('every rule fires in a recorded trouble, or has a reason why there is none', () => {
  const fired = new Set(recorded.flatMap(({ fires }) => fires));
  const missing = files.flatMap(rulesIn).filter(({ alert }) => fired.has(alert) === (unrecorded[alert] !== undefined));
  expect(missing.map(({ alert }) => alert)).toEqual([]);
  expect(fired.size).toBeGreaterThanOrEqual(15);
});

it('every recording is of an episode: run `npm run record -- troubles` for a new one', () => {
  const expected = recorded.map(({ name }) => basename(recordingFile(name)));
  expect(readdirSync(recordingFolder).toSorted()).toEqual(expected.toSorted());
});

it('every series of a recording has a value, or none, for each scrape', () => {
  const lengthOf = (values: string) =>
    values.split(' ').reduce((sum, part) => {
      const [, value, times = '0'] = /^(_|-?\d+(?:\.\d+)?(?:e[-+]\d+)?)(?:x(\d+))?$/.exec(part) ?? [];
      return sum + (value === '_' ? Number(times) : Number(times) + 1);
    }, 0);
  for (const { name } of recorded) {
    const { scrapes, series } = readRecording(name);
    const wrong = series.filter(({ series, values }) => !/^\w+\{.*\}$/.test(series) || lengthOf(values) !== scrapes);
    expect(wrong, name).toEqual([]);
    expect(series.length, name).toBeGreaterThan(0);
  }
});

describe.skipIf(isSkipped)('promtool, of the Debian package prometheus,', () => {
  it.each(files)('takes %s', async (file) => expect(await promtool('check', 'rules', file)).toContain('SUCCESS'));

  it.each(recorded.map((recording) => [recording.name, recording] as const))(
    'has the alerts of “%s” fire in the trouble, and not before',
    async (name, recording) => {
      const { fires, file, startsInTrouble } = recording;
      const { scrapes } = readRecording(name);
      const minutes = Array.from({ length: Math.floor(scrapes / 2) }, (_, index) => 2 * index + 1);
      const answers = await ask(name, ['count by (alertname) (ALERTS{alertstate="firing"})'], minutes, [file]);
      const fired = answers.flatMap(({ minute, samples }) =>
        [...samples.matchAll(/alertname="(\w+)"/g)].map(([, alert = '']) => ({ alert, minute })),
      );
      const before = fired.filter(({ alert, minute }) => minute < goodScrapes && fires.includes(alert));
      if (!startsInTrouble) expect(before).toEqual([]);
      const all = [...new Set(fired.map(({ alert }) => alert))];
      if (fires.length === 0) expect(all).toEqual([]);
      expect(all).toEqual(expect.arrayContaining([...fires]));
    },
  );
});

/** Queries that have no answer in a good time, with the recordings that have one. */
const inTrouble: Readonly<Record<string, string>> = {
  'Requests to backends that fail': 'wrong token',
  'Requests to the stores that fail': 'store away',
};

describe.skipIf(isSkipped).each(dashboards)('$title: promtool, of the Debian package prometheus,', (dashboard) => {
  const { uid, panels } = dashboard;
  const good = uid.endsWith('methods') ? 'good-front-door' : 'good';
  const recordings = [...new Set([good, ...Object.values(inTrouble)])];

  it.each(recordings)(
    'has answers to the queries, with the labels of their names, from the recording “%s”',
    async (recording) => {
      expect(episodes).toHaveProperty([recording]);
      const asked = panels.filter(({ title }) => (inTrouble[title] ?? good) === recording);
      const expressions = asked.flatMap(({ targets }) => targets.map(({ expr }) => expr));
      const { scrapes } = readRecording(recording);
      const answers = await ask(recording, expressions, [scrapes - 1]);
      for (const { title, targets } of asked)
        for (const { legendFormat, expr } of targets) {
          const samples = answers.find(({ expression }) => expression === expr)?.samples;
          expect(samples, `${title}: ${expr}`).toBeDefined();
          const known = [...(samples ?? '').matchAll(/(\w+)="/g)].map(([, label]) => label);
          const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
          // The kind of an error is absent while there is none.
          expect(
            named.filter((label) => !known.includes(label) && label !== 'error_type'),
            title,
          ).toEqual([]);
        }
    },
  );
});

// What KEDA’s query answers in recorded times (D386): it adds an instance above the threshold, takes one away well below it, and
// leaves all as it is at the threshold.

interface Scaled {
  readonly spec: {
    readonly triggers: readonly { readonly metadata: { readonly query: string; readonly threshold: string } }[];
  };
}
const [object] = documents('deploy/kubernetes/scaling/scaled-object.yaml') as unknown as Scaled[];
const { query = '', threshold = '' } = object?.spec.triggers[0]?.metadata ?? {};

async function valuesIn(recording: string): Promise<ReadonlyMap<number, number>> {
  const { scrapes } = readRecording(recording);
  const minutes = Array.from({ length: scrapes }, (_, index) => index);
  const answers = await ask(recording, [query], minutes);
  const values = answers.map(({ minute, samples }) => {
    const [, value] = /^\{\} (\S+)$/.exec(samples.trim()) ?? [];
    if (value === undefined) throw new Error(`not one value: ${samples}`);
    return [minute, Number(value)] as const;
  });
  return new Map(values);
}

describe.skipIf(isSkipped)('the query of the autoscaler, asked by promtool,', () => {
  const limit = Number(threshold);

  it('is below the threshold in a good time', async () => {
    const values = [...(await valuesIn('good')).values()];
    expect(values.length).toBeGreaterThan(100);
    expect(Math.max(...values)).toBeLessThan(limit);
  });
  it('is above it while messages wait in the hub', async () => {
    const values = await valuesIn('backlog read late');
    const most = (from: number, to: number) =>
      Math.max(...[...values].flatMap(([minute, value]) => (minute >= from && minute < to ? [value] : [])));
    expect(most(goodScrapes, Number.POSITIVE_INFINITY)).toBeGreaterThan(limit);
    expect(most(0, goodScrapes)).toBeLessThanOrEqual(limit); // at it before the first scrape
  });
  it('is the threshold while a backend is out, however far behind the partitions are', async () => {
    const values = [...(await valuesIn('falling behind')).values()];
    expect(values.slice(goodScrapes * 2).every((value) => value === limit)).toBe(true);
    expect(values.some((value) => value > limit)).toBe(true); // before the service knew
  });
  it('is the threshold while no instance says how far behind it is', async () => {
    const values = [...(await valuesIn('killed and not yet replaced')).values()];
    expect(values.at(-1)).toBe(limit);
  });
});
