/** Secrets that are known, or what tells those of the moment: another list when there are others (D397). */
export type SecretList = readonly string[] | (() => readonly string[]);

/** What `make` makes of the secrets; it is made again for another list. */
export function madeOf<T>(secrets: SecretList, make: (secrets: readonly string[]) => T): () => T {
  const listNow = typeof secrets === 'function' ? secrets : () => secrets;
  let list = listNow();
  let made = make(list);
  return () => {
    const now = listNow();
    if (now !== list) {
      list = now;
      made = make(now);
    }
    return made;
  };
}

const mark = '…';

/** Names whose values are secret, in connection strings, addresses and forms. */
const named =
  /\b(sig|\w*(?:accesskey|accountkey|accesssignature|secret|password|token))(\s{0,3}["']?\s{0,3}[=:]\s{0,3}["']?)[^\s;&,"'<>]+/gi;
const bearer = /\b(bearer|basic) +[\w.~+/=-]+/gi;
/** Everything behind the path of an address; what stands before its host. */
const query = /(\w:\/\/[^\s?#"'<>]{0,500})[?#][^\s"'<>]*/g;
const user = /(\w:\/\/)[^\s/@"'<>]*@/g;

/** Removes secrets from texts: known ones, and what looks like one. */
export function createScrub(secrets: SecretList): (text: string) => string {
  const known = madeOf(secrets, tellingOf);

  return (text) => {
    let scrubbed = text;
    for (const secret of known()) scrubbed = scrubbed.replaceAll(secret, mark);
    return scrubbed
      .replace(user, `$1${mark}@`)
      .replace(query, `$1?${mark}`)
      .replace(bearer, `$1 ${mark}`)
      .replace(named, `$1$2${mark}`);
  };
}

/** In the forms in which they are found, the longest first. */
function tellingOf(secrets: readonly string[]): readonly string[] {
  const forms = secrets.flatMap((secret) => [secret, encodeURIComponent(secret.toWellFormed())]);
  return [...new Set(forms)].filter(({ length }) => length >= 4).sort((a, b) => b.length - a.length);
}

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
      ...(error instanceof AggregateError &&
        depth < deepest && { errors: error.errors.slice(0, mostErrors).map((one) => fieldsOf(one, depth + 1)) }),
      ...(cause !== undefined && depth < deepest && { cause: fieldsOf(cause, depth + 1) }),
    };
  }

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
  const { headers } = response ?? {};
  // Azure's support finds a request by this id.
  const requestId = typeof headers?.get === 'function' ? headers.get('x-ms-request-id') : undefined;
  return {
    ...((typeof code === 'number' || isWord(code)) && { code }),
    ...(typeof statusCode === 'number' && { statusCode }),
    ...(isWord(condition) && { condition }),
    ...(isWord(requestId) && { requestId }),
  };
}

const isWord = (value: unknown): value is string => typeof value === 'string' && /^[\w.:-]{1,64}$/.test(value);
