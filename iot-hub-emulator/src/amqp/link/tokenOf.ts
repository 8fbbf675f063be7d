/** A token as clients write it: as text or bytes, in a section of data or as a value. Undefined for anything else. */
export function tokenOf(written: unknown): string | undefined {
  const content: unknown = (written as { content?: unknown } | null | undefined)?.content ?? written;
  if (Buffer.isBuffer(content)) return content.toString('utf8');
  return typeof content === 'string' ? content : undefined;
}
