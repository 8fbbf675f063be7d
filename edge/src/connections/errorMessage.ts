/** Until its first connection the hub's client calls every failure this, a closed port too. */
const firstFailure = /^mqtt\.js returned Failure on first connection \(Not authorized\): (.*) error$/s;

/** Message of an error of the hub's or the broker's client, never with what the client was given. */
export function errorMessage(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return errorMessage(error.errors[0]);
  if (error instanceof Error)
    return error.message.replace(firstFailure, '$1') || ('code' in error ? String(error.code) : error.name);
  const inner: unknown = Object(error).transportObj; // results of the hub's client wrap errors
  return inner instanceof Error ? errorMessage(inner) : 'the connection was closed';
}
