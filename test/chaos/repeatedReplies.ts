import { grouped } from '../support/observed.ts';
import type { Devicebound, Stage } from './stage.ts';

/** What the hub had taken before a reader was interrupted may be noted a little later, on a slow machine. */
const slackMs = 10_000;
const minuteMs = 60_000;

/** What repeats of replies can be explained with. Times are in milliseconds since 1970. */
export interface Explanations extends Pick<Stage, 'replies' | 'cuts' | 'interruptions'> {
  /** When an instance has logged that the hub does not confirm replies in time, which it does once a minute. */
  readonly unconfirmed: readonly number[];
}

/**
 * In words, each reply to one message that the hub has taken twice without a reason, and each pair that says different
 * things under one message id. A reason is that the message was handled again, or that the hub has not confirmed the first one
 * in time, or before the connection was cut: then nothing else was said to the device in between (G2).
 * @param mayRepeat the message was handled again, or a fault has kept a confirmation back
 */
export function repeatedReplies(
  replies: readonly Devicebound[],
  { replies: all, cuts, interruptions, unconfirmed }: Explanations,
  mayRepeat: boolean,
): string[] {
  const flaws: string[] = [];
  for (const [messageId, same] of grouped(replies, ({ system }) => system.messageId ?? '')) {
    if (new Set(same.map(subjectOf)).size > 1) flaws.push(`message id ${messageId} stands for two different replies`);
    for (const [index, later] of same.entries()) {
      const before = same[index - 1];
      if (before === undefined || mayRepeat) continue;
      const isBetween = (at: number) => at >= before.time && at <= later.time;
      const others = all.slice(all.indexOf(before) + 1, all.indexOf(later));
      const isLast = !others.some(({ deviceId, refused }) => deviceId === later.deviceId && refused === undefined);
      const isInterrupted = interruptions.some(({ at }) => at <= later.time && at + slackMs >= before.time);
      const isLate = unconfirmed.some((at) => at <= later.time && at + minuteMs >= before.time);
      if (isInterrupted || (isLast && (isLate || cuts.some(isBetween)))) continue;
      flaws.push(`the hub has taken reply ${messageId} twice`);
    }
  }
  return flaws;
}

const subjectOf = ({ properties }: Devicebound): string =>
  ['msgType', 'svc-messagetype', 'objectId', 'model'].map((name) => properties[name] ?? '').join(' ');
