import { resultCodes } from '../../protocol/vocabulary.ts';
import { nearest } from '../../text/nearest.ts';
import type { Choice } from './choice.ts';

interface ChoiceValues {
  readonly device?: string | undefined;
  readonly since?: string | undefined;
  readonly before?: string | undefined;
  readonly code?: string | undefined;
}

/**
 * The selection that the options of a command make.
 * @throws Error with a sentence for the operator
 */
export const choiceOf = ({ device, since, before, code }: ChoiceValues): Choice => ({
  device,
  since: timeOf('--since', since),
  before: timeOf('--before', before),
  code: codeOf(code),
});

function timeOf(option: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new Error(`${option} must be a date, or a date and time`);
  return time;
}

/** A misspelt code would select nothing, which looks as if there was nothing. */
function codeOf(code: string | undefined): string | undefined {
  if (code === undefined || Object.hasOwn(resultCodes, code)) return code;
  throw new Error(`there is no result code ${code}; the nearest is ${nearest(code, Object.keys(resultCodes))}`);
}
