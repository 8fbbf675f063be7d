/** Longer texts are compared by their beginning only: the cost is the product of both lengths. */
const longest = 100;

/**
 * The candidate with the fewest differences from a misspelt name.
 * @param most undefined when it has more differences
 */
export function nearest(
  name: string,
  candidates: readonly string[],
  most = Number.POSITIVE_INFINITY,
): string | undefined {
  const distances = candidates.map((candidate) => distance(name.slice(0, longest), candidate.slice(0, longest)));
  const least = Math.min(...distances);
  return least <= most ? candidates[distances.indexOf(least)] : undefined;
}

/** Characters to insert, delete or replace (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [above, character] of [...from].entries()) {
    const next = [above + 1];
    for (let index = 0; index < to.length; index += 1) {
      const replaced = (row[index] ?? 0) + (character === to[index] ? 0 : 1);
      next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
