import { readFileSync } from 'node:fs';
import { measure } from './mutation/measure.ts';
import { filesOf, rooms } from './mutation/rooms.ts';
import { isCurrent, keepScore, readScores, scoreOf } from './mutation/scores.ts';
import { testFilesOf } from './mutation/testFiles.ts';

/**
 * Changes files in every small way that StrykerJS knows, and tells which change no quick test notices (D394).
 * `npm run mutation -- circuit` measures the files with that word; without words, those that are not what was measured.
 * The result of each file is kept at once, so an interrupted run goes on where it was. `--list` only names the files.
 */

const isList = process.argv.includes('--list');
const words = process.argv.slice(2).filter((word) => word !== '--list');
const scores = readScores();
const isChosen = (file: string) =>
  words.length > 0 ? words.some((word) => file.includes(word)) : !isCurrent(file, scores);

let failures = 0;
for (const room of rooms) {
  const files = filesOf(room).filter(isChosen);
  if (files.length === 0) continue;
  if (isList) {
    console.log(files.join('\n'));
    continue;
  }
  const testFiles = testFilesOf(room, files);
  console.log(`\n${room.folder}: ${files.length} files, ${testFiles.length} files of tests`);
  if (testFiles.length === 0) continue; // StrykerJS would take all that there are
  try {
    await measure(files, testFiles, (file, mutants) => {
      const before = readScores().find((score) => score.file === file);
      const score = scoreOf(file, readFileSync(file, 'utf8'), mutants, before);
      keepScore(score);
      console.log(`${file}: ${score.changes - score.survivors} of ${score.changes} changes noticed`);
      for (const { lines, change, why } of score.reasons ?? []) if (!why) console.log(`  ${lines}: ${change}`);
    });
  } catch (error) {
    failures += 1;
    console.error(`${room.folder} is not measured: ${error instanceof Error ? error.message : error}`);
  }
}
if (failures > 0) process.exitCode = 1;
