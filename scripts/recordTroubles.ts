import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Alert } from './alerts/alert.ts';
import { alerts } from './alertTables.ts';
import { edgeEpisodes } from './recording/edgeEpisodes.ts';
import { recordEdgeEpisode } from './recording/edgeStage.ts';
import { episodes } from './recording/episodes.ts';
import { print, recordingFile } from './recording/recordings.ts';
import { seriesOf } from './recording/series.ts';
import { recordEpisode } from './recording/stage.ts';

/**
 * Records what `/metrics` says in a good time and in troubles: `npm run record-troubles`, or with the names of some. The
 * tests of alerts and dashboards play it.
 */
const everyAlert: readonly Alert[] = Object.values(alerts).flat();
const asked = new Set(
  everyAlert
    .map(({ metric = '' }) => metric)
    .join(' ')
    .match(/\w+/g),
);

/** What became of an episode, and the job that a recording of it has. */
async function recordOf(name: string, directory: string) {
  const [episode, ofEdge] = [episodes[name], edgeEpisodes[name]];
  if (episode)
    return { ...episode, job: episode.job ?? 'device-messaging', scrapes: await recordEpisode(episode, directory) };
  if (ofEdge) return { ...ofEdge, job: 'edge-proxy', scrapes: await recordEdgeEpisode(ofEdge, directory) };
  throw new Error(`there is no episode ${name}`);
}

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys({ ...episodes, ...edgeEpisodes });
for (const name of names) {
  const directory = await mkdtemp(join(tmpdir(), 'recording-'));
  try {
    console.log(name);
    const { fires, job, scrapes } = await recordOf(name, directory);
    const isGood = fires.length === 0;
    const series = seriesOf(scrapes, (metric) => isGood || asked.has(metric), job);
    const file = recordingFile(name);
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(file, print({ scrapes: scrapes.length, series }));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
