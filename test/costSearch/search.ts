import type { Random } from '../chaos/random.ts';
import { finds } from './finds.ts';
import { createCosts, quick, sure } from './measure.ts';
import { changed, eventOf, newRecipe, type Recipe, wordsFor } from './recipe.ts';

/** What no message may cost, in least updates of as many bytes (R6, D170). */
const mostAllowed = 25;

interface SearchOptions {
  readonly random: Random;
  readonly minutes: number;
  print(line: string): void;
}

interface Find {
  readonly recipe: Recipe;
  readonly factor: number;
}

/** How many of the worst are kept and changed further; one of each message and encoding, so that no kind crowds out the others. */
const kept = 24;
const shown = 8;

/** Hill climbing from many hills. Answers whether a message was found, and confirmed, that costs more than is allowed. */
export async function search({ random, minutes, print }: SearchOptions): Promise<boolean> {
  const costs = createCosts();
  const until = performance.now() + minutes * 60_000;
  const worst = new Map<string, Find>();
  let tried = 0;
  let nextWord = performance.now() + 15_000;

  const ranked = () => [...worst.values()].sort((a, b) => b.factor - a.factor);

  async function attempt(recipe: Recipe): Promise<void> {
    const event = eventOf(recipe);
    if (event === undefined) return;
    tried += 1;
    const kind = `${recipe.message} ${recipe.encoding}`;
    const known = worst.get(kind)?.factor ?? 0;
    const first = await costs.factorOf(recipe, event, quick);
    if (first <= known) return;
    const factor = first > mostAllowed / 2 ? Math.min(first, await costs.factorOf(recipe, event, sure)) : first;
    if (factor > known) worst.set(kind, { recipe, factor });
  }

  for (const recipe of Object.values(finds)) await attempt(recipe);
  while (performance.now() < until) {
    const best = ranked().slice(0, kept);
    const isNew = best.length < 5 || random.next() < 0.25;
    await attempt(isNew ? newRecipe(random) : changed(random.pick(best).recipe, random));
    if (performance.now() > nextWord) {
      nextWord += 15_000;
      const [first] = ranked();
      print(
        `${tried} tried; the worst costs ${first?.factor.toFixed(1)} updates: ${first ? wordsFor(first.recipe) : ''}`,
      );
    }
  }

  let isOver = false;
  print(`the worst of ${tried}, measured again:`);
  for (const { recipe } of ranked().slice(0, shown)) {
    const event = eventOf(recipe);
    if (event === undefined) continue;
    const factor = await costs.factorOf(recipe, event, sure);
    isOver ||= factor > mostAllowed;
    print(`  ${factor.toFixed(1).padStart(6)} updates: ${wordsFor(recipe)}`);
  }
  await costs.close();
  print(isOver ? `more than ${mostAllowed} updates` : `nothing costs more than ${mostAllowed} updates`);
  return isOver;
}
