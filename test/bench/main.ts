import { mkdtemp, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildService } from '../../sandbox/service/build.ts';
import { isUpToDate } from '../../sandbox/service/upToDate.ts';
import { fromCommandLine, projectDirectory } from '../../sandbox/state/directories.ts';
import { showProgress } from '../chaos/progress.ts';
import { optionsOrEnd, removeInUse } from '../support/processes.ts';
import { absoluteLines, jsonLines, leastRounds, type Measured, tableOf } from './figures.ts';
import { type Compared, versus, versusTable } from './versus.ts';
import { workloads } from './workloads/index.ts';
import type { Workload } from './workloads/workload.ts';

/**
 * What the service costs, beside the least that the work can cost and beside what is usually written: `npm run bench`. With
 * `--vs FOLDER`, beside another build.
 */

const aboutOf = ({ about, isCold }: Workload) => `${isCold ? 'cold' : 'warm'}: ${about}`;

const usage = `Usage: npm run bench -- [options] [workload …]

Linux only: CPU and memory are read from /proc. Nothing else should run on the machine.

  --quick       small sizes and two rounds, to see that all works; goals and
                slopes mean nothing then
  --rounds N    paired rounds (20; with --quick 2); what takes long and what
                needs few makes fewer
  --vs FOLDER   measure this build beside that of another checkout, which has to
                be built; prints the ratio here / there of CPU and memory with
                the interval of 95 %; every workload makes all rounds (10; with
                --quick ${leastRounds}, the fewest)
  --json FILE   write every figure and round there: the page and its charts
                are made of docs/measurements/now.json by npm run docs
  --help

Workloads:
${workloads.map((one) => `  ${one.name.padEnd(10)}  ${aboutOf(one)}`).join('\n')}

Instead of workloads, up to 32 instances in virtual time, with options of its own:
  npm run bench -- scale --help
`;

const say = (line: string) => process.stdout.write(`${line}\n`);
if (process.argv[2] === 'scale') {
  process.argv.splice(2, 1);
  await import('../scale/main.ts');
} else process.exitCode = await main(optionsOrEnd(readOptions, usage));

/**
 * @returns undefined when help is asked for
 * @throws Error that says what is wrong
 */
function readOptions(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      ...{ quick: { type: 'boolean', default: false }, rounds: { type: 'string' }, json: { type: 'string' } },
      ...{ vs: { type: 'string' }, help: { type: 'boolean', default: false } },
    },
  });
  if (values.help) return undefined;
  const { quick, json, vs } = values;
  const unknown = positionals.find((name) => !workloads.some((one) => one.name === name));
  if (unknown !== undefined) throw new Error(`There is no workload ${unknown}.`);
  const builds = vs === undefined ? undefined : { here: projectDirectory, there: fromCommandLine(vs) };
  const [least, usual, few] = builds ? [leastRounds, 10, leastRounds] : [1, 20, 2];
  const rounds = Number(values.rounds ?? (quick ? few : usual));
  if (!Number.isInteger(rounds) || rounds < least)
    throw new Error(`--rounds must be a whole number, at least ${least}${builds ? ' with --vs' : ''}.`);
  const wanted = workloads.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  return { quick, json, builds, rounds, wanted };
}

async function main({ quick, json, builds, rounds, wanted }: NonNullable<ReturnType<typeof readOptions>>) {
  if (builds && !(await isUpToDate(builds.there))) {
    process.stderr.write(`${builds.there} is not built, or its sources are newer: npm run build there.\n`);
    return 1;
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130)); // what was started ends with us

  await buildService();
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  process.env['TMPDIR'] = directory; // of the children, too
  process.once('exit', () => removeInUse(directory));
  const machine = `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.version}`;
  const warning = '; small sizes, to see that it works: goals and slopes mean nothing';
  say(`${machine}; ${rounds} paired rounds${quick ? warning : ''}`);
  const progress = showProgress(process.stderr, performance.now.bind(performance));
  const measured: Measured[] = [];
  const compared: Compared[] = [];
  const failed: string[] = [];
  for (const workload of wanted) {
    const { name, about } = workload;
    const began = performance.now();
    try {
      const context = { quick, rounds, progress: (what: string) => progress.say(`${name}: ${what}`) };
      const said = () => {
        progress.clear();
        say(`${name}, ${aboutOf(workload)} (${((performance.now() - began) / 1000).toFixed(0)} s)`);
      };
      if (builds) {
        const ofWorkload = await versus(workload, builds, context);
        said();
        say(versusTable(ofWorkload));
        compared.push(...ofWorkload);
      } else {
        const result = await workload.run(context);
        said();
        for (const line of absoluteLines(result)) say(`  ${line}`);
        measured.push({ workload: { name, about }, ...result });
      }
      const all = builds ? { compared } : { measured };
      if (json !== undefined) await writeFile(json, `${jsonLines({ machine, rounds, quick, ...all })}\n`);
    } catch (error) {
      failed.push(name); // the others took their time: they are not lost with it
      process.stderr.write(`\n${name} failed: ${(error as Error).stack}\n`);
    }
  }
  if (!builds) say(`\n${tableOf(measured)}`);
  else if (wanted.length > 1) say(`\n${versusTable(compared)}`);
  if (failed.length > 0) say(`\nfailed: ${failed.join(', ')}`);
  return failed.length > 0 ? 1 : 0;
}
