import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Fault, faultsIn } from '../mutants/faults.ts';
import type { Finding } from './checker.ts';

/** A service that breaks one guarantee on purpose; the checker must report it as one of these. */
export interface Sabotage extends Fault {
  readonly reportedAs: readonly Finding['what'][];
  /** Names of the misfortunes in which it shows, with no others beside them; none: it shows in a calm run. */
  readonly showsIn: readonly string[];
}

const listed = (text: string | undefined): string[] => text?.split(', ') ?? [];

/**
 * What goes wrong by chance in life goes wrong here with the messages whose ids end so. They are written as the own faults are, but that a name is
 * followed by what is reported and by where it shows. The longest come first: at the end, they would run alone.
 */
export const sabotages: readonly Sabotage[] = faultsIn(
  readFileSync(join(import.meta.dirname, 'sabotages.txt'), 'utf8'),
).map((one) => {
  const [fault = '', reportedAs, showsIn] = one.fault.split(' | ');
  return { ...one, fault, reportedAs: listed(reportedAs) as Sabotage['reportedAs'], showsIn: listed(showsIn) };
});
