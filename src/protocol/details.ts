/** Bounds on what a device, the log and a dead letter are told of a failure. */
const maxCharacters = 1_000;
const maxFaults = 10;

/** The first ten of any number of texts; beyond, how many more there are. */
export function firstOf(texts: readonly string[]): readonly string[] {
  const more = texts.length - maxFaults;
  return more > 0 ? [...texts.slice(0, maxFaults), `… and ${more} more`] : texts;
}

/** One text for any number of faults. */
export const listed = (faults: readonly string[]): string => firstOf(faults).join('; ');

/** A text of at most so many characters, the ellipsis that says that it was cut included. */
export const shortened = (text: string, most = maxCharacters): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
