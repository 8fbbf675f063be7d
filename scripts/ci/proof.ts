import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type Change, changedSince } from './changes.ts';

/** Has a line for each step that has passed in `.ci/all`: commit, day, step, and of tests their counts. */
export const provenFile = '.ci/proven';
const line = /^([0-9a-f]{40}) (\d{4}-\d\d-\d\d) ([^:\n]+)(?:: .*)?$/;

/** @returns what has changed since the step passed; undefined when nobody knows */
export function changeSinceProofOf(step: string): Change | undefined {
  const commit = lines().flatMap((text) => (line.exec(text)?.[3] === step ? text.slice(0, 40) : []))[0];
  try {
    if (commit === undefined) return undefined;
    execFileSync('git', ['merge-base', '--is-ancestor', commit, 'HEAD'], { stdio: 'ignore' });
    return changedSince(commit);
  } catch {
    return undefined;
  }
}

/** Whether the step has passed with all files as they are. */
export function isProven(step: string): boolean {
  const change = changeSinceProofOf(step);
  return change !== undefined && [...change.files].every((file) => file === provenFile);
}

/** Nothing is noted of files that are not committed. */
export function noteProofOf(step: string, counts: string | undefined): void {
  const status = execFileSync('git', ['status', '--porcelain', '--untracked-files=all'], { encoding: 'utf8' });
  if (status.split('\n').some((file) => file !== '' && file.slice(3) !== provenFile)) {
    console.log(`${provenFile} says nothing of this: not all that was tried is committed`);
    return;
  }
  const day = new Date().toISOString().slice(0, 10);
  const others = lines().filter((text) => line.exec(text)?.[3] !== step);
  const said = `${head()} ${day} ${step}${counts === undefined ? '' : `: ${counts}`}`;
  writeFileSync(provenFile, `${[...others, said].join('\n')}\n`);
}

export const head = (): string => execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();

const lines = (): string[] =>
  existsSync(provenFile) ? readFileSync(provenFile, 'utf8').split('\n').filter(Boolean) : [];
