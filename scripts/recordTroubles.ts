import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Alert } from './alerts/alert.ts';
import { alerts } from './alertTables.ts';
import { episodes } from './recording/episodes.ts';
import { recordingFile } from './recording/recordings.ts';
import { seriesOf } from './recording/series.ts';
import { recordEpisode } from './recording/stage.ts';

/**
 * Records what `/metrics` says in a good time and in troubles: `npm run record-troubles`, or with the names of some. The
 * tests of alerts and dashboards play it.
 */
const queries = [...alerts.service, ...alerts['front door']].map(({ metric = '' }: Alert) => metric).join(' ');
const asked = new Set(queries.match(/\w+/g));

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(episodes);
for (const name of names) {
  const episode = episodes[name];
  if (episode === undefined) throw new Error(`there is no episode ${name}`);
  const directory = await mkdtemp(join(tmpdir(), 'recording-'));
  try {
    console.log(name);
    const scrapes = await recordEpisode(episode, directory);
    const isGood = episode.fires.length === 0;
    const series = seriesOf(scrapes, (metric) => isGood || asked.has(metric), episode.job ?? 'device-messaging');
    const file = recordingFile(name);
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(file, `${JSON.stringify({ scrapes: scrapes.length, series }, undefined, 1)}\n`);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
