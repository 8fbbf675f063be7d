/** The reason of an error in words, without what it was given: messages of the clients are plain sentences. */
export function inWords(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors.length > 0) return inWords(cause.errors[0]);
  if (cause instanceof Error) return cause.message || ('code' in cause ? String(cause.code) : cause.name);
  const inner: unknown = Object(cause).transportObj; // results of the hub's client wrap errors
  return inner instanceof Error ? inWords(inner) : 'the connection has ended';
}
