import { type DeadLetter, folderOfId } from '../../deadLetters/deadLetter.ts';
import { createRequirements } from '../../dispatch/requirements.ts';
import { findCard } from '../../messages/index.ts';
import { backendNames } from '../../protocol/backendCalls.ts';
import { messageNameOf } from '../../protocol/envelope.ts';
import { messageLimits } from '../../settings/constants.ts';
import { arrivalOf, byDevice, neighbours } from './order.ts';

/** As if all backends were out: then each message names those that it waits for. */
const requirementOf = createRequirements({ ready: async () => true, isUp: () => false }, messageLimits);

/**
 * What a replay would do with a dead letter, in sentences.
 * @param ids at least those of its device, in order
 */
export function replayPlan(id: string, letter: DeadLetter, ids: readonly string[]): readonly string[] {
  const own = byDevice(ids).get(folderOfId(id)) ?? [];
  const { older, newer } = neighbours(own, own.indexOf(id));
  return [
    ...(older.length > 0
      ? [`its device has ${counted(older, 'older')}: tried first, and when one fails again this one is not tried`]
      : []),
    ...(newer.length > 0
      ? [`its device has ${counted(newer, 'newer')}: when one is handled or deleted meanwhile, this one is not tried`]
      : []),
    handling(letter),
    'then it is deleted, unless it fails through our side again',
  ];
}

const counted = ({ length }: readonly string[], what: string): string =>
  length === 1 ? `one ${what} dead letter` : `${length} ${what} dead letters`;

function handling(letter: DeadLetter): string {
  const { event, generation, attempts } = letter;
  const name = messageNameOf(generation, event.properties ?? {});
  if (findCard(generation, name) === undefined) return 'it is answered that there is no such message';
  const needs = requirementOf(arrivalOf(letter))?.needs;
  if (needs === undefined) return `${name} is refused because of its properties, before any backend is called`;
  const failed = attempts === 1 ? 'once' : `${attempts} times`;
  const waits = needs.length === 0 ? '' : `, and waits while the ${needs.map(shown).join(' or the ')} is out`;
  return `${name} runs again (it has failed ${failed})${waits}`;
}

const shown = (name: string): string => backendNames[name as keyof typeof backendNames];
