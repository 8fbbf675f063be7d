/** What was asked for makes no sense; the message says why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
