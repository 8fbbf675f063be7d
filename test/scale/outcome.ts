import { checkpointEveryMessages, timing } from '../../src/settings/constants.ts';
import { markdown } from '../bench/figures.ts';
import type { Outcome } from './run.ts';
import type { Scenario } from './scenarios.ts';
import { messagesPerSecond } from './world.ts';

const columns: readonly (readonly [head: string, of: (outcome: Outcome) => string])[] = [
  ['scenario', ({ name }) => name],
  ['unread, median', ({ unread }) => seconds(unread.median)],
  ['worst', ({ unread }) => seconds(unread.worst)],
  ['most behind', ({ mostBehind }) => seconds(mostBehind)],
  ['caught up after', ({ caughtUp }) => seconds(caughtUp)],
  ['handled again', ({ work }) => (work.repeats === 0 ? '0' : `${work.repeats} of ${work.sent}`)],
  ['storage requests a second', ({ storage }) => `${storage.mean.toFixed(0)}, at most ${storage.most}`],
  ['questions to the hub a second', ({ mostQuestions }) => `at most ${mostQuestions}`],
  ['settled after', ({ seconds: whole }) => seconds(whole)],
];

const seconds = (value: number) => `${value < 10 ? value.toFixed(1) : value.toFixed(0)} s`;

export const lineOf = (outcome: Outcome): string =>
  columns.map(([head, of], index) => (index === 0 ? `${of(outcome)}:` : `${head} ${of(outcome)},`)).join(' ');

export function tableOf(outcomes: readonly Outcome[]): string {
  return markdown([columns.map(([head]) => head), ...outcomes.map((outcome) => columns.map(([, of]) => of(outcome)))]);
}

/** What must hold whatever happens to instances, and does not: empty when all is well (G1, G2, G3, G4). */
export function faultsOf(
  { isBalanced, uncleanEnds, unread, work }: Pick<Outcome, 'isBalanced' | 'uncleanEnds' | 'unread' | 'work'>,
  scenario: Pick<Scenario, 'uncleanEnds' | 'unwrittenSeconds' | 'parks'>,
): string[] {
  const { parks = 0, unwrittenSeconds = 0 } = scenario;
  const mostEnds = scenario.uncleanEnds ?? 0;
  const mostRepeats = uncleanEnds * repeatsOfOneEnd + unwrittenSeconds * messagesPerSecond;
  const isHandedOver = mostEnds === 0 && unwrittenSeconds === 0;
  const faults = [
    !isBalanced && 'the partitions are not shared evenly in the end',
    work.lost > 0 && `${work.lost} messages are lost`,
    work.inversions > 0 && `${work.inversions} messages were handled behind a later one of their device`,
    work.parked !== parks && `${work.parked} messages are parked, and not ${parks}`,
    uncleanEnds > mostEnds && `${uncleanEnds} processes ended by themselves, and not ${mostEnds} at the most`,
    isHandedOver && unread.worst > timing.expirySeconds && `a partition had no reader for ${unread.worst} s`,
    work.mostRepeats > mostRepeats &&
      `${work.mostRepeats} messages of a partition were handled again, over ${mostRepeats}`,
  ];
  return faults.filter((fault) => fault !== false);
}

/** In a partition: those since the last checkpoint, and those in flight, at this load. */
const repeatsOfOneEnd = Math.min(checkpointEveryMessages, 2 * messagesPerSecond * timing.checkpointSeconds);
