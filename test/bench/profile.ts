import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openArena } from './processes/arena.ts';

/** V8's .cpuprofile, as much of it as is read. */
interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: Frame;
  }[];
  readonly samples: readonly number[];
  /** In µs. */
  readonly timeDeltas: readonly number[];
}

interface Frame {
  readonly functionName: string;
  readonly url: string;
  /** From 0. */
  readonly lineNumber: number;
}

const shownFiles = 25;

/** Runs the update workload under V8's profiler and says whose code the main thread was in. */
export async function profileUpdate(quick: boolean, progress: (what: string) => void): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'profile-'));
  try {
    const arena = await openArena({
      program: 'service',
      devices: 1_000,
      nodeOptions: ['--cpu-prof', `--cpu-prof-dir=${directory}`],
    });
    try {
      for (let round = 1; round <= (quick ? 2 : 5); round += 1) {
        progress(`round ${round}`);
        await arena.run({ kind: 'update', messages: 10_000, devices: 1_000 });
      }
      await arena.program.end('SIGTERM');
    } finally {
      await arena.stop();
    }
    const [file = ''] = await readdir(directory);
    return summaryOf(JSON.parse(await readFile(join(directory, file), 'utf8')) as Profile);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function summaryOf({ nodes, samples, timeDeltas }: Profile): string {
  const sourceOf = readSources();
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, { ...callFrame, source: sourceOf(callFrame) }]));
  const packages = new Map<string, number>();
  const files = new Map<string, number>();
  let busy = 0;
  for (const [index, id] of samples.entries()) {
    const frame = frames.get(id);
    const time = timeDeltas[index] ?? 0;
    if (frame === undefined || frame.functionName === '(idle)') continue;
    busy += time;
    add(packages, packageOf(frame), time);
    const own = /^src\/(.+)$/.exec(frame.source)?.[1];
    if (own !== undefined) add(files, own, time);
  }
  const lines = (shares: Map<string, number>, most: number) =>
    [...shares]
      .sort(([, a], [, b]) => b - a)
      .slice(0, most)
      .map(([name, time]) => `  ${((100 * time) / busy).toFixed(1).padStart(5)} %  ${name}`);
  return ['by package', ...lines(packages, 30), '', 'by file of ours', ...lines(files, shownFiles)].join('\n');
}

const add = (shares: Map<string, number>, name: string, time: number) =>
  shares.set(name, (shares.get(name) ?? 0) + time);

/** From which file the code of a frame comes: bundles say it in a line before the code of each file. */
function readSources(): (frame: Frame) => string {
  const bundles = new Map<string, readonly string[]>();
  return ({ url, lineNumber }) => {
    if (!/^file:.*\/dist\//.test(url)) return url;
    const lines = bundles.get(url) ?? readFileSync(fileURLToPath(url), 'utf8').split('\n');
    bundles.set(url, lines);
    const heading = lines.slice(0, lineNumber + 1).findLast((line) => /^\/\/ \S+\.[cm]?[jt]s$/.test(line));
    return heading?.slice('// '.length) ?? url;
  };
}

function packageOf({ functionName, source }: { functionName: string; source: string }): string {
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (functionName === '(program)') return 'native code';
  const inner = source.lastIndexOf('node_modules/');
  if (inner >= 0) return /^((?:@[^/]+\/)?[^/]+)/.exec(source.slice(inner + 'node_modules/'.length))?.[1] ?? 'unknown';
  if (source.startsWith('node:')) return 'node';
  return source === '' ? 'V8 built-ins' : 'ours';
}
