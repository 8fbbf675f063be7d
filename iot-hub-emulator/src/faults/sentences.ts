import type { ZodError, z } from 'zod';

type Issue = z.core.$ZodIssue;

const types: Readonly<Record<string, string>> = {
  number: 'a whole number',
  int: 'a whole number',
  string: 'a text',
  boolean: 'true or false',
  object: 'a JSON object',
  record: 'a JSON object',
};

/** What is wrong with a fault that somebody asked for, in one sentence for each field. */
export const faultSentences = ({ issues }: ZodError): string =>
  `That is no fault: ${issues.map(clause).join('; ')}. All kinds and their fields: GET /faults/kinds of the admin port, or the command faults kinds.`;

function clause(issue: Issue): string {
  const field = issue.path.join('.') || 'a fault';
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => `this kind has no field ${key}`).join('; ');
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
