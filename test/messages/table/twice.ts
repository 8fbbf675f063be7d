/** A body in which a key is written twice, with the other members. */
export function writtenTwice(key: string, value: unknown, others: object = {}): string {
  const once = JSON.stringify({ ...others, [key]: value });
  return `${once.slice(0, -1)},${JSON.stringify(key)}:${JSON.stringify(value)}}`;
}
