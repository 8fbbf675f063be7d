import { type Json, parseJson } from './json.ts';

/** The elements of a JSON array, each with its own text (R5). */
export function elementsOf({ text, value }: Json): Json[] {
  if (!Array.isArray(value)) throw new TypeError('expected an array');
  const elements: Json[] = [];
  let depth = 0;
  let start = text.indexOf('[') + 1;
  for (let at = start; value.length > 0; at += 1) {
    const character = text[at];
    if (character === '"') at = closingQuote(text, at);
    else if (character === '{' || character === '[') depth += 1;
    else if (depth === 0 && (character === ',' || character === ']')) {
      elements.push(parseJson(text.slice(start, at).trim(), Number.POSITIVE_INFINITY));
      if (character === ']') break;
      start = at + 1;
    } else if (character === '}' || character === ']') depth -= 1;
  }
  return elements;
}

function closingQuote(text: string, opening: number): number {
  let at = opening + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}
