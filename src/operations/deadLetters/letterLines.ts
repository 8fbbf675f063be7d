import { printable } from 'telemetry/printable.ts';
import type { StoredLetter } from './choice.ts';
import type { ReplaySummary } from './replay.ts';

/** The output of the operator's command. */

export function letterLineOf({ id, letter }: StoredLetter): string {
  const { deviceId, code, details, attempts, parkedAt, event } = letter;
  const name = event.properties?.['action'] ?? event.properties?.['eventType'];
  const what = `${JSON.stringify(deviceId)}  ${String(name)}  ${code}  attempts ${attempts}  ${details}`;
  return `${id}  ${parkedAt.toISOString()}  ${printable(what)}`;
}

export function replaySummaryOf({ handled, failed, heldBack, left, gone, unreadable }: ReplaySummary): string {
  const parts: [number, string][] = [
    [failed, 'failed again and stay'],
    [heldBack, 'not tried, to keep the order of their device'],
    [left, 'left when stopped'],
    [gone, 'gone meanwhile'],
    [unreadable, 'unreadable'],
  ];
  const others = parts.flatMap(([count, what]) => (count > 0 ? [`, ${count} ${what}`] : []));
  return `${handled} handled${others.join('')}`;
}
