export interface Instruction {
  readonly verb: string;
  readonly argument: string;
}

/** One instruction a line: comments dropped, continued lines joined. */
export const readDockerfile = (text: string): Instruction[] =>
  joinLines(text.replace(/^\s*#.*\n/gm, '')).map((line) => {
    const [verb = ''] = line.split(/\s/, 1);
    return { verb: verb.toUpperCase(), argument: line.slice(verb.length).trim() };
  });

/** The lines that say something; a backslash at the end joins the next one. */
export const joinLines = (text: string): string[] =>
  text
    .replace(/\\\n/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/** The options of an instruction (`--from=build`), and its other words. */
export function readWords(argument: string): { options: Map<string, string>; words: string[] } {
  const all = argument.split(/\s+/);
  const options = all.flatMap((word) => {
    const [, name, value] = /^--([\w-]+)=(.*)$/.exec(word) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
  return { options: new Map(options), words: all.filter((word) => !word.startsWith('--')) };
}
