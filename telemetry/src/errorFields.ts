import { createScrub } from './scrub.ts';
import type { SecretList } from './secretList.ts';

/** Deeper causes are left out; a cause can also be its own. */
const deepest = 4;
const mostErrors = 10;
const longestMessage = 2_000;
const longestStack = 4_000;

/**
 * What the log keeps of an error: errors of HTTP and hub clients contain requests, and with them tokens (G5). Texts are
 * scrubbed, too, because some clients put addresses with signatures into them.
 * @param secrets known ones, of the settings
 */
export function createErrorFields(secrets: SecretList = []): (error: unknown) => object {
  const scrub = createScrub(secrets);
  /** Cut after the scrubbing, too: a secret that is cut would not be recognised. */
  const short = (text: string, longest: number) => scrub(text.slice(0, 2 * longest)).slice(0, longest);

  function fieldsOf(error: unknown, depth: number): object {
    if (!(error instanceof Error)) return { message: short(String(error), longestMessage) };
    const { name, message, stack, cause } = error;
    return {
      type: name,
      message: short(message, longestMessage),
      ...clientFields(error),
      ...(depth === 0 && { stack: short(stack ?? '', longestStack) }),
      ...(error instanceof AggregateError && depth < deepest && { errors: errorsIn(error, depth) }),
      ...(cause !== undefined && depth < deepest && { cause: fieldsOf(cause, depth + 1) }),
    };
  }

  const errorsIn = ({ errors }: AggregateError, depth: number) =>
    errors.slice(0, mostErrors).map((one) => fieldsOf(one, depth + 1));

  return (error) => fieldsOf(error, 0);
}

/** What the Azure clients, Node and AMQP say of an error besides its text. */
function clientFields(error: Error) {
  const { code, statusCode, amqpError, response } = error as {
    readonly code?: unknown;
    readonly statusCode?: unknown;
    readonly amqpError?: { readonly condition?: unknown };
    readonly response?: { readonly headers?: { readonly get?: unknown } };
  };
  const condition = amqpError?.condition;
  const requestId = requestIdIn(response?.headers);
  return {
    ...((typeof code === 'number' || isWord(code)) && { code }),
    ...(typeof statusCode === 'number' && { statusCode }),
    ...(isWord(condition) && { condition }),
    ...(isWord(requestId) && { requestId }),
  };
}

/** Azure's support finds a request by this id. */
const requestIdIn = (headers: { readonly get?: unknown } | undefined): unknown =>
  typeof headers?.get === 'function' ? headers.get('x-ms-request-id') : undefined;

const isWord = (value: unknown): value is string => typeof value === 'string' && /^[\w.:-]{1,64}$/.test(value);
