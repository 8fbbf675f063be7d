import { describe, expect, it } from 'vitest';
import { goodScrapes } from '../../scripts/recording/episode.ts';
import { readRecording } from '../../scripts/recording/recordings.ts';
import { documents } from './kustomize.ts';
import { ask, isSkipped } from './promtool.ts';

// What KEDA’s query answers in recorded times (D386): it adds an instance above the threshold, takes one away well below it, and
// leaves all as it is at the threshold.

interface Scaled {
  readonly spec: {
    readonly triggers: readonly { readonly metadata: { readonly query: string; readonly threshold: string } }[];
  };
}
const [object] = documents('deploy/kubernetes/scaling/scaled-object.yaml') as unknown as Scaled[];
const { query = '', threshold = '' } = object?.spec.triggers[0]?.metadata ?? {};

/** The one value of each minute. */
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
