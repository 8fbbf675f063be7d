import { UsageError } from '../terminal/usage.ts';
import type { AnswerOptions } from './answerMethods.ts';

/** The options that say how methods are answered, in the terms of `parseArgs`. */
export const answeringOptions = {
  status: { type: 'string' },
  output: { type: 'string' },
  fail: { type: 'string' },
  detail: { type: 'string' },
  delay: { type: 'string' },
  times: { type: 'string' },
} as const;

type Given = { readonly [name in keyof typeof answeringOptions]?: string | undefined };

/** How methods are answered. Throws `UsageError`. */
export function readAnswering({
  status = '200',
  output,
  fail,
  detail = 'told to fail on the command line',
  delay,
  times,
}: Given): AnswerOptions {
  return {
    status: whole('status', status),
    ...(output !== undefined && { output: output === 'none' ? null : readObject(output) }),
    ...(fail !== undefined && { failure: { status: whole('fail', fail), detail } }),
    delayMs: 1000 * seconds('delay', delay ?? '0'),
    times: times === undefined ? Number.POSITIVE_INFINITY : whole('times', times),
  };
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(value))
    throw new UsageError(`--${name} takes a whole number, not ${JSON.stringify(text)}`);
  return value;
}

/** A time that a timer can wait. */
function seconds(name: string, text: string): number {
  const value = Number(text);
  if (!(value >= 0 && value <= 86_400))
    throw new UsageError(`--${name} takes seconds up to 86400, not ${JSON.stringify(text)}`);
  return value;
}

function readObject(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // reported below
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`--output takes a JSON object or none, not ${JSON.stringify(text)}`);
  }
  return { ...value };
}
