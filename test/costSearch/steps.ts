import { effort } from '../../src/protocol/jsonReader.ts';
import { messageLimits } from '../../src/settings/constants.ts';

/** What a message may cost in steps, which no machine makes faster or slower (R6, D186). */

type Steps = typeof effort;

interface Size {
  /** Bytes of the message's body, inflated. */
  readonly body: number;
  /** Bytes of all answers to it. */
  readonly answers: number;
}

const { maxReferences, maxHits, maxRelatedModels } = messageLimits;

/** Most steps: how often each byte of the body and of the answers is looked at, and how much is built of them. */
const mostSteps = ({ body, answers }: Size): Steps => ({
  characters: 4 * body + 3 * answers + 1_000,
  values: 2 * body + 2 * answers + 1_000,
  elements: maxReferences + maxHits + maxRelatedModels + 10,
  built: 65_536 + body + answers,
});

/** Counts from now on. */
export function countSteps(): (size: Size) => string[] {
  const before = { ...effort };
  return (size) => {
    const most = mostSteps(size);
    return (Object.keys(most) as (keyof Steps)[]).flatMap((name) => {
      const steps = effort[name] - before[name];
      return steps > most[name] ? [`${steps} ${name}, at most ${most[name]}`] : [];
    });
  };
}
