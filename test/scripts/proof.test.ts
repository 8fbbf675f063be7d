import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { changeSinceProofOf, isProven, noteProofOf } from '../../scripts/ci/proof.ts';

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { encoding: 'utf8' });

function commit(file: string) {
  writeFileSync(file, `${Math.random()}`);
  commitAll();
}

function commitAll() {
  git('add', '.');
  git('commit', '--quiet', '--message', 'change');
}

beforeEach(() => {
  const before = process.cwd();
  const directory = mkdtempSync(join(tmpdir(), 'proof-'));
  onTestFinished(() => {
    process.chdir(before);
    rmSync(directory, { recursive: true });
  });
  process.chdir(directory);
  git('init', '--quiet');
  mkdirSync('.ci');
  commit('a');
});

it('a step that has passed is proven until a file is another, also when the proof is committed', () => {
  expect(isProven('step')).toBe(false);
  noteProofOf('step', '3 passed, 0 failed');
  commitAll();
  expect([isProven('step'), isProven('other')]).toEqual([true, false]);
  commit('b');
  expect(isProven('step')).toBe(false);
  expect([...(changeSinceProofOf('step')?.files ?? [])].sort()).toEqual(['.ci/proven', 'b']);
});

it('each step has its own commit, the last at which it passed', () => {
  noteProofOf('one', undefined);
  noteProofOf('other', undefined);
  commit('b');
  noteProofOf('other', undefined);
  expect([isProven('one'), isProven('other')]).toEqual([false, true]);
  expect(readFileSync('.ci/proven', 'utf8')).toMatch(/^\w{40} \S+ one\n\w{40} \S+ other\n$/);
});

it('what is not committed is not proven', () => {
  writeFileSync('b', '');
  noteProofOf('step', undefined);
  rmSync('b');
  expect(isProven('step')).toBe(false);
});

it('nothing is known of a commit that this one does not come from', () => {
  noteProofOf('step', undefined);
  git('checkout', '--quiet', '--orphan', 'elsewhere');
  commit('c');
  expect(changeSinceProofOf('step')).toBeUndefined();
});
