import { pino } from 'pino';

const { isoTime } = pino.stdTimeFunctions;

/** Makes the text of a log line. Undefined when only pino can: of an error, or of a value that needs care. */
export type LineOf = (level: string, event: string | undefined, fields: object, message: string) => string | undefined;

/**
 * Makes the same bytes as pino with less work: one `JSON.stringify` for all fields instead of one step, and one more text,
 * for each (D355).
 * @param instance on each line
 */
export function createLineOf(instance: string | undefined): LineOf {
  const common = instance === undefined ? '' : `,"instance":${JSON.stringify(instance)}`;

  return (level, event, fields, message) => {
    if ('err' in fields || 'event' in fields) return undefined;
    const members = jsonOf(fields)?.slice(1, -1);
    // Half a surrogate pair: pino writes it in some strings, and escapes it in others.
    if (members === undefined || members.includes('\\ud')) return undefined;
    const head = `{"level":"${level}"${isoTime()}${common}`;
    const named = event === undefined ? head : `${head},"event":"${event}"`;
    return `${named}${members && ','}${members},"msg":${JSON.stringify(message)}}\n`;
  };
}

/** Undefined for a cycle and for a bigint. */
function jsonOf(fields: object): string | undefined {
  try {
    return JSON.stringify(fields);
  } catch {
    return undefined;
  }
}
