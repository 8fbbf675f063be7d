import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { anchorOf } from '../../scripts/decisions.ts';
import { edgeEpisodes } from '../../scripts/recording/edgeEpisodes.ts';
import { episodes } from '../../scripts/recording/episodes.ts';
import { dashboards, readRecording, recordingFile, recordingFolder } from '../../scripts/recording/series.ts';
import { goodScrapes } from '../../scripts/recording/stage.ts';
import { documents } from './kustomize.ts';
import { ask, firing, isSkipped, type Played, promtool, ruleFile } from './promtool.ts';

// What `/metrics` said in real troubles is played to the rules by Prometheus’ own tool, with a minute between two scrapes (D388).

type Rule = Readonly<{ alert?: string; expr: string; labels: Labels; annotations?: Labels }>;
type Labels = Readonly<Record<string, string>>;
type Rules = Readonly<{ groups: readonly { readonly rules: readonly Rule[] }[] }>;
const groups = (parse(readFileSync(ruleFile, 'utf8')) as Rules).groups.map(({ rules }) => rules);
const [[runbooks] = [], ...alertGroups] = groups;
const rules = alertGroups.flat();

const environment = 'production';
const recorded = [
  ...Object.entries(episodes).map(([name, { fires, before, environment, job }]) => ({
    ...{ name, fires, good: [job === 'device-messaging-methods' ? 'good-front-door' : 'good'] },
    startsInTrouble: before !== undefined || environment !== undefined,
  })),
  ...Object.entries(edgeEpisodes).map(([name, { fires }]) => ({
    ...{ name, fires, good: ['good-edge', 'good-front-door'], startsInTrouble: false },
  })),
];

it('at most sixteen alerts are for service and front door, and four for the edge proxy', () => {
  const [ofServer = [], ofEdge = []] = alertGroups;
  expect(ofServer.length).toBeLessThanOrEqual(16);
  expect(ofEdge.length).toBeLessThanOrEqual(4);
  expect(rules.length).toBe(ofServer.length + ofEdge.length);
});

it('every rule names a chapter of docs/operations.md, below the one place that says where the pages are', () => {
  const headings = readFileSync('docs/operations.md', 'utf8').match(/^#+ .*$/gm) ?? [];
  const anchors = headings.map((heading) => anchorOf(heading.replace(/^#+ /, '')));
  const pages = '{{ with query "device_messaging_runbooks" }}{{ (first .).Labels.url }}{{ end }}';
  const urls = anchors.map((anchor) => `${pages}operations.md#${anchor}`);
  const wrong = rules.filter(({ annotations }) => !urls.includes(annotations?.['runbook_url'] ?? ''));
  expect(wrong.map(({ alert }) => alert)).toEqual([]);
  expect(runbooks).toMatchObject({
    record: 'device_messaging_runbooks',
    labels: { url: expect.stringMatching(/\/$/) },
  });
});

it('the rules for the Prometheus Operator are the same', () => {
  const resources = documents('deploy/kubernetes/monitoring/prometheus-rule.yaml') as unknown as { spec: Rules }[];
  expect(resources.flatMap(({ spec }) => spec.groups.map((group) => group.rules))).toEqual(groups);
});

it('every recording is of an episode: run `npm run record -- troubles` for a new one', () => {
  const expected = recorded.map(({ name }) => basename(recordingFile(name)));
  expect(readdirSync(recordingFolder).toSorted()).toEqual(expected.toSorted());
});

const fleet = 'one of three killed';
/** Its scrapes are half a minute apart where they are played; the time that others need to take over was shortened alike. */
const fleetOptions = { scrapeSeconds: 30 } as const;
const everyMinute = (scrapes: number) => Array.from({ length: scrapes }, (_, index) => index);

it('every rule fires in a recorded trouble', () => {
  const fired = ['ServiceAbsent', ...recorded.flatMap(({ fires }) => fires)];
  expect(rules.map(({ alert = '' }) => alert).filter((alert) => !fired.includes(alert))).toEqual([]);
});

describe.skipIf(isSkipped)('promtool, of the Debian package prometheus,', () => {
  const folder = folderForEach('promtool');
  it('takes the rules', async () => expect(await promtool('check', 'rules', ruleFile)).toContain('SUCCESS'));

  it('has an alert link to its chapter, below the place that the first rule names', async () => {
    const { labels, annotations } = rules.find(({ alert }) => alert === 'ServiceAbsent') ?? {};
    const runbook_url = `${runbooks?.labels['url']}operations.md#it-does-not-start-or-is-not-ready`;
    const of = { namespace: 'production', job: 'device-messaging' };
    const exp_alerts = [{ exp_labels: { ...labels, ...of }, exp_annotations: { ...annotations, runbook_url } }];
    const series = 'device_messaging_ready{namespace="production",job="device-messaging",instance="one"}';
    const test = {
      ...{ interval: '30s', input_series: [{ series, values: '1x3 stale' }] },
      alert_rule_test: [{ eval_time: '10m', alertname: 'ServiceAbsent', exp_alerts }],
    };
    const file = join(folder, 'test.yaml');
    writeFileSync(file, JSON.stringify({ rule_files: [resolve(ruleFile)], evaluation_interval: '30s', tests: [test] }));
    expect(await promtool('test', 'rules', file)).toContain('SUCCESS');
  });

  it.each(recorded.filter(({ name }) => name !== fleet).map((recording) => [recording.name, recording] as const))(
    'has the alerts of “%s” fire in the trouble, not before, and not in another environment',
    async (name, { fires, good, startsInTrouble }) => {
      const { scrapes } = readRecording(name);
      const played = [
        { recording: name, namespace: environment },
        ...good.map((recording) => ({ recording, namespace: 'staging', lasts: scrapes })),
      ];
      const fired = await firing(played, everyMinute(scrapes));
      expect(fired.filter(({ namespace }) => namespace !== environment)).toEqual([]);
      const all = new Set(fired.map(({ alert }) => alert));
      if (fires.length === 0) expect([...all]).toEqual([]);
      expect([...all]).toEqual(expect.arrayContaining([...fires]));
      const before = fired.filter(({ alert, minute }) => minute < goodScrapes && fires.includes(alert));
      if (!startsInTrouble) expect(before).toEqual([]);
    },
  );
});

/** Where the fleet is well, and Prometheus gets nothing from then on. */
const goneAt = 10;
const goneMinute = (goneAt * fleetOptions.scrapeSeconds) / 60;
const minutes = Array.from({ length: 48 }, (_, index) => index / 2);

describe.skipIf(isSkipped)('an environment of three instances:', () => {
  const well = { recording: fleet, namespace: environment, ends: goodScrapes, lasts: 48 };
  const firedIn = (silent: NonNullable<Played['silent']>) => firing([{ ...well, silent }], minutes, fleetOptions);
  const pagesOf = (fired: Awaited<ReturnType<typeof firing>>) => fired.filter(({ severity }) => severity === 'page');

  it.each([
    ['that are gone', { from: goneAt }],
    ['whose pods are gone, too', { from: goneAt, forgotten: true }],
  ])('all %s page within three minutes, and until they are back', async (_, silent) => {
    const pages = pagesOf(await firedIn(silent)).filter(({ alert }) => alert === 'ServiceAbsent');
    expect(pages[0]).toMatchObject({ namespace: environment, job: 'device-messaging' });
    expect(pages[0]?.minute).toBeLessThanOrEqual(goneMinute + 3);
    expect(pages.map(({ minute }) => minute)).toEqual(minutes.filter((minute) => minute >= (pages[0]?.minute ?? 0)));
  });
  it('another environment that is well hides nothing, and is not paged', async () => {
    const played = [
      { ...well, silent: { from: goneAt } },
      { ...well, namespace: 'staging' },
    ];
    const fired = pagesOf(await firing(played, minutes, fleetOptions));
    expect(fired.filter(({ minute }) => minute <= goneMinute + 3).map(({ alert }) => alert)).toEqual(
      expect.arrayContaining(['ServiceAbsent', 'PartitionUnread']),
    );
    expect(fired.filter(({ namespace }) => namespace !== environment)).toEqual([]);
  });
  it('one that is gone, and that others replace, pages nobody and is told in working hours', async () => {
    const fired = await firing([{ recording: fleet, namespace: environment, lasts: 48 }], minutes, fleetOptions);
    expect(pagesOf(fired)).toEqual([]);
    expect(new Set(fired.map(({ alert }) => alert))).toEqual(new Set(['InstanceDown']));
  });
  it.each([
    ['that is gone, and that no other replaces', { from: goneAt, instances: ['three'], forgotten: true }],
    ['whose scrape is broken', { from: goneAt, instances: ['three'] }],
  ])('one %s pages within three minutes: nobody is known to read its partitions', async (_, silent) => {
    const pages = pagesOf(await firedIn(silent));
    expect([...new Set(pages.map(({ alert }) => alert))]).toEqual(['PartitionUnread']);
    expect(pages[0]?.minute).toBeLessThanOrEqual(goneMinute + 3);
  });
  it('a Prometheus that has never seen one pages, whatever other programs say', async () => {
    const labels = 'job="shop",instance="one",namespace="shop"';
    const more = [
      { series: `up{${labels}}`, values: '1x40' },
      { series: `process_memory_usage{${labels}}`, values: '9e+9x40' },
      { series: `process_uptime{${labels}}`, values: '1 0 1 0 1 0 1 0x40' },
      { series: `http_client_request_duration_count{${labels},http_response_status_code="401"}`, values: '0+1x40' },
      { series: `http_server_request_duration_count{${labels},error_type="internal_error"}`, values: '0+1x40' },
    ];
    const fired = await firing([], everyMinute(20), { more });
    expect(new Set(fired.map(({ alert }) => alert))).toEqual(new Set(['ServiceAbsent']));
    expect(fired[0]?.job).toBeUndefined();
  });
});

it.skipIf(isSkipped).each([
  ['pages while another has nothing to send', '7x40', true],
  ['pages within ten minutes after the last delivery', '0+3x5 15x40', true],
  ['does not once another delivers replies again, though it has none itself', '0+3x40', false],
])('an instance whose replies the hub refuses for its quota %s', async (_, delivered, isTold) => {
  const labels = (instance: string) => `job="device-messaging",instance="${instance}",namespace="${environment}"`;
  const more = [
    { series: `device_messaging_replies_rate{${labels('one')}}`, values: '0x40' },
    { series: `device_messaging_replies_rate{${labels('two')}}`, values: '22x40' },
    {
      series: `device_messaging_replies_total{${labels('two')},device_messaging_result="delivered"}`,
      values: delivered,
    },
  ];
  const fired = await firing([], everyMinute(16), { more });
  expect(fired.some(({ alert }) => alert === 'HubTakesNoReplies')).toBe(isTold);
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
      const job = good === 'good' ? 'device-messaging' : 'device-messaging-methods';
      const filled = (expr: string) => expr.replaceAll('$namespace', environment).replaceAll('$job', job);
      const expressions = asked.flatMap(({ targets }) => targets.map(({ expr }) => filled(expr)));
      const { scrapes } = readRecording(recording);
      const answers = await ask([{ recording, namespace: environment }], expressions, [scrapes - 1]);
      for (const { title, targets } of asked)
        for (const { legendFormat, expr } of targets) {
          const samples = answers.find(({ expression }) => expression === filled(expr))?.samples;
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

async function valuesIn(recording: string, beside: readonly string[] = []): Promise<ReadonlyMap<number, number>> {
  const { scrapes } = readRecording(recording);
  const played = [
    { recording, namespace: 'device-messaging' },
    ...beside.map((other) => ({ recording: other, namespace: 'staging', lasts: scrapes })),
  ];
  const answers = await ask(played, [query], everyMinute(scrapes));
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
    const values = [...(await valuesIn('good')).values()].slice(goodScrapes); // the hub has been asked
    expect(values.length).toBeGreaterThan(100);
    expect(Math.max(...values)).toBeLessThan(limit);
  });
  it('is the same whatever happens in another environment', async () => {
    expect(await valuesIn('good', ['falling behind'])).toEqual(await valuesIn('good'));
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
    expect(values.slice(goodScrapes * 3).every((value) => value === limit)).toBe(true);
    expect(values.some((value) => value > limit)).toBe(true); // before the service knew
  });
  it('is the threshold while no instance says how far behind it is', async () => {
    const values = [...(await valuesIn('killed and not yet replaced')).values()];
    expect(values.at(-1)).toBe(limit);
  });
});
