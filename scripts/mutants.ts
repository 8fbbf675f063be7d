import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { availableParallelism, constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openDoneList } from '../test/chaos/doneList.ts';
import { faults, withFault } from '../test/mutants/faults.ts';
import { optionsOrEnd } from '../test/support/processes.ts';
import { changedSince } from './ci/changes.ts';
import { head } from './ci/proof.ts';
import { testFilesReaching } from './mutants/reaching.ts';
import { createRunner, tryMutants, type Verdict } from './mutants/runner.ts';
import { drawn, sample } from './mutants/sample.ts';

const usage = `npm run mutants [-- WORD …]          puts the deliberate faults of test/mutants into the service, one at a time, and demands that
                                     a test that loads it notices each; with words, those with one of them in file or name
npm run mutants -- --since COMMIT    those whose file, or a test that loads it, has changed since then
npm run mutants -- --some 200        so many of them, drawn
npm run mutants -- --sample 40       so many small changes that StrykerJS makes, drawn over the rooms of src; those that no test notices
                                     are named, and are no failure
  --nearest 20                       ask no more than so many files of tests about each; default: all that load it
  --seed TEXT                        for what is drawn; default: the hash of the commit
  --resume FILE                      passes over what the file lists, and adds what is noticed: for one commit
No file is changed: the test runner loads another text.
`;

const { values, positionals } = optionsOrEnd(readOptions, usage);
const seed = values.seed ?? head();
const done = await openDoneList(values.resume);
const lineOf = ({ file, name }: Verdict['mutant']) => `${file}: ${name}`;
const chosen = values.sample === undefined ? ownFaults() : await sample(Number(values.sample), seed);
const mutants = chosen.filter((one) => !done.has(lineOf(one)));
if (mutants.length < chosen.length)
  console.log(`${chosen.length - mutants.length} of ${chosen.length} were noticed before`);
if (mutants.length === 0) {
  const isWrong = positionals.length > 0;
  console.log(
    isWrong
      ? `No deliberate fault has ${positionals.join(' or ')} in its name or file`
      : 'No deliberate fault is concerned',
  );
  process.exit(isWrong ? 1 : 0);
}

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'mutants-')));
chmodSync(directory, 0o711); // some tests give their rights away
// Many wait, most of all for what never comes, and need no processor.
const atOnce = Math.min(2 * availableParallelism(), 8, mutants.length);
const runners = Array.from({ length: atOnce }, () => createRunner(process.cwd(), directory));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => end(128 + constants.signals[signal]));

let tried = 0;
const escaped: Verdict[] = [];
const noted: Promise<void>[] = [];
await tryMutants({
  ...{ mutants, runners, testMs: 20_000, fileMs: 120_000 },
  testFilesFor: ({ file, name }) => testFilesReaching(file, name).slice(0, Number(values.nearest) || undefined),
  onVerdict(verdict) {
    const { mutant, noticedBy } = verdict;
    tried += 1;
    if (noticedBy === undefined) escaped.push(verdict);
    else noted.push(done.add(lineOf(mutant)));
    const place = `${String(tried).padStart(3)}/${mutants.length}`;
    console.log(`${place} ${noticedBy === undefined ? 'ESCAPED' : 'noticed'} ${lineOf(mutant)}`);
  },
});
await Promise.all(noted);
for (const { mutant, why } of escaped) console.log(`\nescaped: ${mutant.file}: ${mutant.name}\n  ${why}`);
const isDrawn = (values.some ?? values.sample) !== undefined;
const kind = `${values.sample === undefined ? 'deliberate faults' : 'changes'}${isDrawn ? ` drawn with ${seed}` : ''}`;
console.log(`\n${mutants.length - escaped.length} of ${mutants.length} ${kind} noticed by a test`);
end(escaped.length === 0 || values.sample !== undefined ? 0 : 1);

function end(code: number): never {
  for (const runner of runners) runner.close();
  rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  process.exit(code);
}

function ownFaults() {
  const isChosen = values.since === undefined ? () => true : changedSince(values.since).concerns;
  const chosen = faults
    .filter(
      ({ fault, file }) => positionals.length === 0 || positionals.some((word) => `${file}: ${fault}`.includes(word)),
    )
    .filter(({ file, fault }) => isChosen(file, fault))
    .map((fault) => ({
      name: fault.fault,
      file: fault.file,
      text: withFault(readFileSync(fault.file, 'utf8'), fault),
    }));
  const count = Number(values.some ?? chosen.length);
  return drawn(chosen, count, seed, ({ name, file }) => `${file}: ${name}`);
}

function readOptions(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const options = { since: text, some: text, sample: text, nearest: text, seed: text, resume: text };
  const parsed = parseArgs({
    args: [...args],
    options: { ...options, help: { type: 'boolean' } },
    allowPositionals: true,
  });
  if (parsed.values.help) return undefined;
  for (const name of ['sample', 'some', 'nearest'] as const)
    if (!/^([1-9]\d{0,3})?$/.test(parsed.values[name] ?? ''))
      throw new Error(`--${name} takes a number from 1 to 9999`);
  return parsed;
}
