import type { Span } from './stage.ts';

type Line = Readonly<Record<string, unknown>>;

/**
 * Ids of the messages whose time ran out while a backend was out, by the log of one instance: they had begun before, so
 * their clock ran on (P2), whether or not a fault has met a call of theirs.
 */
export function caughtInOutages(lines: readonly Line[]): string[] {
  const outages = outagesIn(lines);
  return lines.flatMap((line) => {
    if (line['msg'] !== 'handled' || line['code'] !== 'timeout_exceeded') return [];
    const to = timeOf(line);
    const from = to - Number(line['ms']);
    return outages.some((outage) => outage.from <= to && outage.to >= from) ? [String(line['correlationId'])] : [];
  });
}

function outagesIn(lines: readonly Line[]): Span[] {
  const outages: Span[] = [];
  const since = new Map<unknown, number>();
  for (const line of lines) {
    const { msg, backend } = line;
    // Written once a minute as long as it is out.
    if (msg === 'backend is out, calls to it wait' && !since.has(backend)) since.set(backend, timeOf(line));
    if (msg === 'backend is back') {
      outages.push({ from: since.get(backend) ?? 0, to: timeOf(line) });
      since.delete(backend);
    }
  }
  for (const from of since.values()) outages.push({ from, to: Number.POSITIVE_INFINITY });
  return outages;
}

const timeOf = ({ time }: Line): number => Date.parse(String(time));
