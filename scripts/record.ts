import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { spawn } from '../sandbox/service/endWithUs.ts';
import { edgeEpisodes } from './recording/edgeEpisodes.ts';
import { recordEdgeEpisode } from './recording/edgeStage.ts';
import { episodes } from './recording/episodes.ts';
import { askedOf, print, recordingFile, recordingFolder, seriesOf } from './recording/series.ts';
import { recordEpisode } from './recording/stage.ts';

/**
 * Writes anew what tests compare or play: `npm run record -- transcripts`, and `-- troubles`, what `/metrics` says in a good
 * time and in troubles; with names, in those. `-- pictures` takes those of the pages.
 */
const usage = `Usage: npm run record -- transcripts
       npm run record -- troubles [NAME …]
       npm run record -- pictures

  transcripts  test/e2e/transcripts: what each message and its replies look like
               on the wire; review the difference
  troubles     ${recordingFolder}: what /metrics says in a good time and in
               troubles, which the tests of alerts and dashboards play
  pictures     docs/pictures: the web pages, in the chromium of the machine
`;

const instanceNames = ['one', 'two', 'three'];

/** What became of an episode, and the job that a recording of it has. */
async function recordOf(name: string, directory: string) {
  const [episode, ofEdge] = [episodes[name], edgeEpisodes[name]];
  if (episode)
    return {
      asks: [],
      ...episode,
      job: episode.job ?? 'device-messaging',
      scrapes: await recordEpisode(episode, directory),
    };
  if (ofEdge) return { ...ofEdge, asks: [], job: 'edge-proxy', scrapes: await recordEdgeEpisode(ofEdge, directory) };
  throw new Error(`there is no episode ${name}`);
}

async function recordTroubles(names: readonly string[]): Promise<void> {
  for (const name of names.length > 0 ? names : Object.keys({ ...episodes, ...edgeEpisodes })) {
    const directory = await mkdtemp(join(tmpdir(), 'recording-'));
    try {
      console.log(name);
      const { fires, asks, job, scrapes } = await recordOf(name, directory);
      const asked = askedOf(fires, asks);
      const series = scrapes.flatMap((own, index) =>
        seriesOf(own, (metric) => asked.has(metric), { job, instance: instanceNames[index] ?? '' }),
      );
      const file = recordingFile(name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, print({ scrapes: scrapes[0]?.length ?? 0, series }));
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }
}

async function recordTranscripts(): Promise<void> {
  const args = ['node_modules/vitest/vitest.mjs', 'run', 'test/e2e/transcripts.test.ts', '--update'];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  process.exitCode = await new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 130)));
}

const kinds: Readonly<Record<string, (names: readonly string[]) => Promise<unknown>>> = {
  transcripts: recordTranscripts,
  troubles: recordTroubles,
  pictures: () => import('./pagePictures.ts'),
};
const [kind = '', ...names] = process.argv.slice(2);
const record = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
if (record === undefined) {
  const isHelp = kind === '--help';
  process[isHelp ? 'stdout' : 'stderr'].write(
    isHelp ? usage : `There is nothing called "${kind}" to record.\n\n${usage}`,
  );
  process.exit(isHelp ? 0 : 1);
}
await import('./buildIfOlder.ts');
await record(names);
