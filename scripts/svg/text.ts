/** Widths are estimated: an SVG cannot ask for them. Of an average letter, in pixels at 12 and at 11 pixels. */
const letter = 6.4;
const smallLetter = 5.8;

/** Lines of words, each as wide as there is room; a longer word has a line of its own. */
export function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    const longer = `${last} ${word}`;
    if (last !== undefined && longer.length * smallLetter <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

interface Legend {
  readonly rows: number;
  readonly entries: readonly { readonly x: number; readonly row: number }[];
}

const markWidth = 24;
const gap = 18;

/** Places the labels of lines next to each other, in as many rows as they need. */
export function legendOf(labels: readonly string[], width: number): Legend {
  let [x, row] = [0, 0];
  const entries = labels.map((label) => {
    const own = markWidth + label.length * letter;
    if (x > 0 && x + own > width) [x, row] = [0, row + 1];
    const entry = { x, row };
    x += own + gap;
    return entry;
  });
  return { rows: labels.length === 0 ? 0 : row + 1, entries };
}
