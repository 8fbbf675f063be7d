import { effort } from '../../src/protocol/jsonReader.ts';
import { messageLimits } from '../../src/settings/constants.ts';
import { createRandom } from '../chaos/random.ts';
import { finds } from './finds.ts';
import { createCosts, quick, sure } from './measure.ts';
import { changed, eventOf, newRecipe, type Recipe, wordsFor } from './recipe.ts';
import type { Find, Sitting } from './sitting.ts';

/** What a message may cost in steps, which no machine makes faster or slower (R6, D186). */

type Steps = typeof effort;

interface Size {
  readonly body: number;
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

interface SearchOptions {
  readonly sitting: Sitting;
  readonly minutes: number;
  print(line: string): void;
  keep(sitting: Sitting): void;
}

/** How many of the worst are kept and changed further; one of each message and encoding or stored data, so that no kind crowds out the others. */
const kept = 32;
const shown = 8;

/** Hill climbing from many hills. Answers whether a message was found, and confirmed, that costs more than is allowed. */
export async function search({ sitting, minutes, print, keep }: SearchOptions): Promise<boolean> {
  const { seed, spentSeconds } = sitting;
  const costs = createCosts();
  const began = performance.now() - spentSeconds * 1_000;
  const until = began + minutes * 60_000;
  const random = createRandom(seed + sitting.tried);
  const worst = new Map<string, Find>(Object.entries(sitting.worst));
  let { tried, hasExcess } = sitting;
  let nextWord = performance.now() + 15_000;

  const keepAll = () =>
    keep({
      ...{ seed, tried, hasExcess, worst: Object.fromEntries(worst) },
      spentSeconds: (performance.now() - began) / 1_000,
    });

  const ranked = () => [...worst.values()].sort((a, b) => b.share - a.share);

  async function attempt(recipe: Recipe): Promise<void> {
    const event = eventOf(recipe);
    if (event === undefined) return;
    tried += 1;
    const excess = await costs.excessOf(recipe, event);
    if (excess.length > 0) {
      hasExcess = true;
      print(`too many steps: ${excess.join('; ')}: ${wordsFor(recipe)}`);
    }
    const kind = `${recipe.message} ${isAboutAnswers(recipe) ? recipe.stored : recipe.encoding}`;
    const known = worst.get(kind)?.share ?? 0;
    const first = await costs.shareOf(recipe, event, quick);
    if (first <= known) return;
    const share = first > 0.5 ? Math.min(first, await costs.shareOf(recipe, event, sure)) : first;
    if (share > known) worst.set(kind, { recipe, share });
  }

  if (tried === 0) for (const recipe of Object.values(finds)) await attempt(recipe);
  while (performance.now() < until) {
    const best = ranked().slice(0, kept);
    const isNew = best.length < 5 || random.next() < 0.25;
    await attempt(isNew ? newRecipe(random) : changed(random.pick(best).recipe, random));
    if (performance.now() > nextWord) {
      nextWord += 15_000;
      keepAll();
      const [first] = ranked();
      print(
        `${tried} tried; the worst costs ${percent(first?.share ?? 0)} of what it may: ${first ? wordsFor(first.recipe) : ''}`,
      );
    }
  }

  keepAll();

  let isOver = false;
  print(`the worst of ${tried}, measured again:`);
  for (const { recipe } of ranked().slice(0, shown)) {
    const event = eventOf(recipe);
    if (event === undefined) continue;
    const share = await costs.shareOf(recipe, event, sure);
    isOver ||= share > 1;
    print(`  ${percent(share).padStart(6)}: ${wordsFor(recipe)}`);
  }
  await costs.close();
  print(isOver ? 'some messages cost more than they may' : 'no message costs more than it may');
  return isOver || hasExcess;
}

const isAboutAnswers = ({ stored }: Recipe): boolean => !['nothing', 'small', 'as hostile'].includes(stored);

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;
