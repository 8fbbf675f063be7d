/** Only these fields: errors of the clients also carry keys and signatures (G5). */
export function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack } = error;
  return { type: name, message, stack };
}
