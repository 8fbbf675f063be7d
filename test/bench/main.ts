import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildService } from '../../sandbox/service/build.ts';
import { removeInUse } from '../support/removeInUse.ts';
import { absoluteLines, jsonLines, type Measured, type Rows, tableOf } from './printer.ts';
import { profileUpdate } from './profile.ts';
import { workloads } from './workloads/index.ts';

/** What the service costs, beside the least that the work can cost and beside what is usually written: `npm run bench`. */

const usage = `Usage: npm run bench -- [options] [workload …]

Linux only: CPU and memory are read from /proc. Nothing else should run on the machine.

  --quick       small sizes and two rounds, to see that all works; goals and
                slopes mean nothing then
  --rounds N    paired rounds (20); what takes long and what needs few makes fewer
  --json FILE   write every figure and round there: the page and its charts
                are made of docs/measurements/now.json by npm run docs
  --before FILE show those of an earlier --json FILE beside them
  --from FILE   measure nothing: show what an earlier --json FILE has
  --profile     say where the CPU of the update workload goes, by package and by file
  --help

Workloads:
${workloads.map(({ name, about }) => `  ${name.padEnd(10)}  ${about}`).join('\n')}
`;

class UsageError extends Error {}

const say = (line: string) => process.stdout.write(`${line}\n`);
process.exitCode = await main().catch((error: Error) => {
  const isUsage = error instanceof UsageError || /^ERR_PARSE_ARGS/.test(String((error as NodeJS.ErrnoException).code));
  process.stderr.write(`\n${isUsage ? `${error.message}\n\n${usage}` : error.stack}\n`);
  return 1;
});

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      json: { type: 'string' },
      before: { type: 'string' },
      from: { type: 'string' },
      profile: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    say(usage);
    return 0;
  }
  const unknown = positionals.find((name) => !workloads.some((one) => one.name === name));
  if (unknown !== undefined) throw new UsageError(`There is no workload ${unknown}.`);
  const rounds = Number(values.rounds ?? (values.quick ? 2 : 20));
  if (!Number.isInteger(rounds) || rounds < 1) throw new UsageError('--rounds must be a whole number above 0.');
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130)); // what was started ends with us

  const before = values.before === undefined ? undefined : await readRun(values.before);
  if (values.from !== undefined) {
    say(tableOf(await readRun(values.from), before));
    return 0;
  }

  await buildService();
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  process.env['TMPDIR'] = directory; // of the children, too
  process.once('exit', () => removeInUse(directory));
  const machine = `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.version}`;
  const warning = '; small sizes, to see that it works: goals and slopes mean nothing';
  say(`${machine}; ${rounds} paired rounds${values.quick ? warning : ''}`);
  if (values.profile) {
    say(await profileUpdate(values.quick, progressOf('profile')));
    return 0;
  }
  const measured: Measured[] = [];
  const failed: string[] = [];
  for (const workload of workloads.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
    const { name, about } = workload;
    const progress = progressOf(name);
    const began = performance.now();
    try {
      const result = await workload.run({ quick: values.quick, rounds, progress });
      progress('');
      say(`${name}: ${about} (${((performance.now() - began) / 1000).toFixed(0)} s)`);
      for (const line of absoluteLines(result)) say(`  ${line}`);
      measured.push({ workload: { name, about }, ...result });
      if (values.json)
        await writeFile(values.json, `${jsonLines({ machine, rounds, quick: values.quick, measured })}\n`);
    } catch (error) {
      failed.push(name); // the others took their time: they are not lost with it
      process.stderr.write(`\n${name} failed: ${(error as Error).stack}\n`);
    }
  }
  say(`\n${tableOf(measured, before)}`);
  if (failed.length > 0) say(`\nfailed: ${failed.join(', ')}`);
  return failed.length > 0 ? 1 : 0;
}

/** @throws UsageError when no run was written there */
async function readRun(file: string): Promise<readonly Rows[]> {
  const { measured } = await readFile(file, 'utf8')
    .then((text) => JSON.parse(text))
    .catch((error) => {
      throw new UsageError(`${file} cannot be read: ${error.message}`);
    });
  if (!Array.isArray(measured)) throw new UsageError(`${file} was not written by --json.`);
  return measured;
}

/** One line that is written over on a terminal, and a line each elsewhere. */
function progressOf(name: string): (what: string) => void {
  return (what) => {
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${what && `${name}: ${what}`}`);
    else if (what !== '') process.stderr.write(`${name}: ${what}\n`);
  };
}
