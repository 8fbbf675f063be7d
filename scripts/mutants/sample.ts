import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Instrumenter } from '@stryker-mutator/instrumenter';
import { filesBelow } from '../../test/support/imports.ts';
import type { Mutant } from './runner.ts';

const no = () => false;
const nothing = () => {};
const silent = {
  ...{ isTraceEnabled: no, isDebugEnabled: no, isInfoEnabled: no, isWarnEnabled: no, isErrorEnabled: no },
  ...{ isFatalEnabled: no, trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing },
  fatal: nothing,
};

/** So many of them, the same for the same seed. */
export function drawn<T>(all: readonly T[], count: number, seed: string, nameOf: (one: T) => string): T[] {
  const lots = all.map((one) => ({
    one,
    lot: createHash('sha256')
      .update(`${seed} ${nameOf(one)}`)
      .digest('hex'),
  }));
  return lots
    .sort((one, other) => (one.lot < other.lot ? -1 : 1))
    .slice(0, count)
    .map(({ one }) => one);
}

/**
 * Draws small changes of the files of `src`, as StrykerJS makes them: the same for the same seed and the same files, as many of each room (a
 * folder of `src`) as of every other one (D395).
 */
export async function sample(count: number, seed: string): Promise<Mutant[]> {
  const byRoom = new Map<string, Mutant[]>();
  for (const file of filesBelow('src').filter((name) => !name.endsWith('.d.ts'))) {
    const room = file.split('/')[1] ?? '';
    byRoom.set(room, [...(byRoom.get(room) ?? []), ...(await mutantsOf(file))]);
  }
  const inTurn = (mutants: readonly Mutant[]) => drawn(mutants, count, seed, ({ name }) => name);
  const rooms = [...byRoom.values()].map(inTurn);
  const rounds = Array.from({ length: count }, (_, round) => inTurn(rooms.flatMap((all) => all[round] ?? [])));
  return rounds.flat().slice(0, count);
}

async function mutantsOf(file: string): Promise<Mutant[]> {
  const content = readFileSync(file, 'utf8');
  const { mutants } = await new Instrumenter(silent).instrument([{ name: file, mutate: true, content }], {
    plugins: null,
    excludedMutations: [],
    ignorers: [],
  });
  const starts = [0, ...[...content.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const at = ({ line, column }: { readonly line: number; readonly column: number }) => (starts[line] ?? 0) + column;
  return mutants
    .filter(({ status }) => status === undefined)
    .map(({ location, replacement }) => {
      const [from, to] = [at(location.start), at(location.end)];
      const inOneLine = (text: string) => text.replace(/\s+/g, ' ').slice(0, 80);
      const name = `line ${location.start.line + 1}: ${inOneLine(content.slice(from, to))} → ${inOneLine(replacement)}`;
      return { name, file, text: `${content.slice(0, from)}${replacement}${content.slice(to)}` };
    });
}
