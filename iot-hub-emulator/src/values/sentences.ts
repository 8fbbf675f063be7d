import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

const types: Readonly<Record<string, string>> = {
  number: 'a whole number',
  int: 'a whole number',
  string: 'a text',
  boolean: 'true or false',
  object: 'a JSON object',
  record: 'a JSON object',
  array: 'a list',
};

/**
 * What is wrong with a value, a clause for each field.
 * @param whole what the value is called
 * @param unknown says that a field does not exist
 */
export const clausesOf = (issues: readonly Issue[], whole: string, unknown: (field: string) => string): string =>
  issues.map((issue) => clause(issue, whole, unknown)).join('; ');

function clause(issue: Issue, whole: string, unknown: (field: string) => string): string {
  const field = issue.path.join('.') || whole;
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknown([...issue.path, key].join('.'))).join('; ');
    case 'invalid_union':
      return `${field} takes ${('options' in issue ? (issue.options as readonly string[]) : undefined)?.join(', ') ?? 'another value'}`;
    case 'invalid_value':
      return `${field} takes ${issue.values.join(', ')}`;
    case 'invalid_type':
      return `${field} takes ${types[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return issue.origin === 'string' ? `${field} must not be empty` : `${field} is at least ${least(issue)}`;
    case 'too_big':
      return `${field} ${issue.origin === 'string' ? 'has at most' : 'is at most'} ${issue.maximum}${issue.origin === 'string' ? ' characters' : ''}`;
    default:
      return `${field}: ${issue.message}`;
  }
}

const least = ({ minimum, inclusive }: z.core.$ZodIssueTooSmall) =>
  inclusive === false ? Number(minimum) + 1 : minimum;
