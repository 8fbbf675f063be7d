import { describe, expect, it } from 'vitest';
import { dashboards } from '../../scripts/dashboards.ts';
import { episodes } from '../../scripts/recording/episodes.ts';
import { readRecording } from '../../scripts/recording/recordings.ts';
import { ask, isSkipped } from './promtool.ts';

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
      const expressions = asked.flatMap(({ queries }) => queries.map(([, expression]) => expression));
      const { scrapes } = readRecording(recording);
      const answers = await ask(recording, expressions, [scrapes - 1]);
      for (const { title, queries } of asked)
        for (const [legend, expression] of queries) {
          const samples = answers.find((one) => one.expression === expression)?.samples;
          expect(samples, `${title}: ${expression}`).toBeDefined();
          const known = [...(samples ?? '').matchAll(/(\w+)="/g)].map(([, label]) => label);
          const named = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
          // The kind of an error is absent while there is none.
          expect(
            named.filter((label) => !known.includes(label) && label !== 'error_type'),
            title,
          ).toEqual([]);
        }
    },
  );
});
