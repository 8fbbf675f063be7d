import { writeFileSync } from 'node:fs';
import { type Room, roomOf, rooms } from './mutation/rooms.ts';
import { readScores, type Score } from './mutation/scores.ts';

/** `docs/mutation.md`, from `test/mutation/scores.json` (D346). `npm run docs` rewrites it; a test fails when it is behind. */
export const mutationPageFile = 'docs/mutation.md';

/** Rounded down: 100 % is all. */
const noticed = (changes: number, survivors: number): string =>
  changes === 0 ? '' : `${Math.floor((1 - survivors / changes) * 100)} %`;

const sum = (scores: readonly Score[], of: (score: Score) => number | undefined): number =>
  scores.reduce((total, score) => total + (of(score) ?? 0), 0);

const numbers = (scores: readonly Score[]): string => {
  const changes = sum(scores, (score) => score.changes);
  const survivors = sum(scores, (score) => score.survivors);
  const columns = [changes, noticed(changes, survivors), survivors];
  return [...columns, sum(scores, ({ atLoad }) => atLoad), sum(scores, ({ off }) => off)].join(' | ');
};

/** Without the extension. */
const nameOf = (file: string): string => `\`${file.replace(/\.ts$/, '')}\``;

function rowOfRoom(folder: string, scores: readonly Score[]): string {
  return `| \`${folder}\` | ${scores.length} | ${numbers(scores)} |`;
}

function rowOfFile(score: Score): string {
  const whys = (score.reasons ?? []).map(({ why }) => why || '**not judged yet**');
  return `| ${nameOf(score.file)} | ${numbers([score])} | ${[...new Set(whys)].join('; ')} |`;
}

export function mutationPage(): string {
  const all = readScores();
  const ofRoom = (room: Room) => all.filter(({ file }) => roomOf(file) === room);
  const measured = rooms.filter((room) => ofRoom(room).length > 0);
  const tried = all.filter(({ changes }) => changes > 0);
  const partly = tried.filter(({ survivors }) => survivors > 0);
  const whole = tried.filter(({ survivors }) => survivors === 0);
  const unreached = all.filter(({ changes, off = 0 }) => changes === 0 && off > 0);
  return `# Mutation testing

<!-- Written by \`npm run docs\` from test/mutation/scores.json. -->

\`npm run mutation\` lets [StrykerJS](https://stryker-mutator.io) change rules in small ways, and runs the quick tests that reach each change.
A change that no test notices *survives*. Tests that start programs and those that take longest are left out, so a survivor is a question, not a verdict.
Code that runs only while its file is loaded is not changed (*at load*), nor what a comment switches off, or files that only tests of programs reach (*off*).
\`npm run mutation -- fields\` measures files with that word, minutes for one; without words, all that have no score or another code than then, which takes hours.
Each result is kept at once in \`test/mutation/scores.json\`, with the survivors by their lines at that time. \`npm run mutation -- --list\` names
the files without a score of their present code.

| room | files | changes | noticed | survivors | at load | off |
|---|---|---|---|---|---|---|
${measured.map((room) => rowOfRoom(room.folder, ofRoom(room))).join('\n')}

| file | changes | noticed | survivors | at load | off | why they may stay |
|---|---|---|---|---|---|---|
${partly.map(rowOfFile).join('\n')}

Without survivors: ${whole.map(({ file }) => nameOf(file)).join(', ')}.
${unreached.length > 0 ? `\nOnly tests that start programs reach: ${unreached.map(({ file }) => nameOf(file)).join(', ')}.\n` : ''}`;
}

export function writeMutationPage(): void {
  writeFileSync(mutationPageFile, mutationPage());
}
