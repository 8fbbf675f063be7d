import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { ObjectChange } from '../informationModel/objects.ts';
import type { ReferenceChange } from '../informationModel/referenceStore.ts';
import type { PrincipalChange } from '../principalManager/principals.ts';
import type { TypeChange } from '../typeRegistry/types.ts';
import type { AnswerChange } from './idempotency.ts';

/** A change of the world, as it is stored on disk. */
export type Change = PrincipalChange | TypeChange | ObjectChange | ReferenceChange | AnswerChange;

const FILE = 'world.jsonl';

/** The complete lines of the file; a last line that a crash left unfinished never happened. */
function readLines(file: string): string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8').split('\n').slice(0, -1);
}

/**
 * Stores the world's changes in an append-only file: one line per call, so that a call's changes are there together or
 * not at all. Without a directory nothing is stored.
 */
export function createStorage(directory: string | undefined) {
  const file = directory === undefined ? undefined : join(directory, FILE);
  let pending: Change[] = [];
  let open: number | undefined;

  return {
    record: (change: Change): void => void pending.push(change),
    /** Writes what a call has changed; it survives the end of this process from here on. */
    commit(): void {
      if (open !== undefined && pending.length > 0) appendFileSync(open, `${JSON.stringify(pending)}\n`);
      pending = [];
    },
    /** The stored changes, oldest first. */
    load: (): Change[] => (file === undefined ? [] : readLines(file).flatMap((line): Change[] => JSON.parse(line))),
    /** Begins a new file that holds `dump` only, replacing the old one in one step. */
    start(dump: readonly Change[]): void {
      pending = [];
      if (file === undefined || directory === undefined) return;
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      writeFileSync(`${file}.new`, dump.map((change) => `${JSON.stringify([change])}\n`).join(''), { mode: 0o600 });
      if (open !== undefined) closeSync(open);
      renameSync(`${file}.new`, file);
      open = openSync(file, 'a');
    },
    close(): void {
      if (open !== undefined) closeSync(open);
      open = undefined;
    },
  };
}
