import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { anchorOf } from '../../scripts/decisions.ts';
import { edgeEpisodes } from '../../scripts/recording/edgeEpisodes.ts';
import { goodScrapes } from '../../scripts/recording/episode.ts';
import { episodes } from '../../scripts/recording/episodes.ts';
import { readRecording, recordingFile, recordingFolder } from '../../scripts/recording/recordings.ts';
import { ask, isSkipped, promtool } from './promtool.ts';

// What `/metrics` said in real troubles is played to the rules by Prometheus’ own tool, with a minute between two scrapes (D388).

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}
interface Rules {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
}
const rulesIn = (file: string) => (parse(readFileSync(file, 'utf8')) as Rules).groups.flatMap(({ rules }) => rules);
const files = ['deploy/monitoring/alerts.yaml', 'deploy/monitoring/edge-alerts.yaml'] as const;
const [rulesOfServer, rulesOfEdge] = files;

/** With the file whose rules are for them. */
const recorded = [
  ...Object.entries(episodes).map(([name, { fires, before, environment }]) => ({
    ...{ name, fires, file: rulesOfServer, startsInTrouble: before !== undefined || environment !== undefined },
  })),
  ...Object.entries(edgeEpisodes).map(([name, { fires }]) => ({
    ...{ name, fires, file: rulesOfEdge, startsInTrouble: false },
  })),
];

/** Alerts whose trouble no recording has, and why. */
const unrecorded: Readonly<Record<string, string>> = {
  HubFailedOver: 'the hub emulator of a recording keeps its address; test/hub/endpoint has hubs that fail over',
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
