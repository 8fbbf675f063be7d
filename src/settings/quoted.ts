/** A shell takes the quotes around a value in a file of variables away; `docker run --env-file` and `npm start` pass them. */

const inQuotes = /^(["'])(.*)\1$/s;

export const withoutQuotes = (value: string): string => inQuotes.exec(value)?.[2] ?? value;

/** One sentence for each of these variables whose value is in quotes. */
export const quotedVariables = (env: NodeJS.ProcessEnv, variables: readonly string[]): string[] =>
  variables
    .filter((variable) => inQuotes.test(env[variable] ?? ''))
    .map((variable) => `${variable}: the quotes around its value are part of it: remove them`);
