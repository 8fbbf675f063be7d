/** When a reader last had each sign of life, as `performance.now()`. */
export interface LifeSigns {
  /** The subscription began. */
  readonly subscribed: number;
  /** It reported: with events, or without any when none came in `maxWaitSeconds`. */
  readonly heard: number;
  /** The hub refused to deliver: an answer, too. */
  readonly refused: number;
  readonly event: number;
}

/** For how long a reader has been quiet, in milliseconds, by what counts as a sign. */
export interface QuietTimes {
  /** Since the subscription began or last reported. */
  readonly silentMs: number;
  /** The same, but the beginning of a new subscription does not count. */
  readonly deafMs: number;
  /** As `deafMs`, but a refusal by the hub counts too: a new subscription would not change it. */
  readonly unansweredMs: number;
  /** Since the last event, or since the subscription began. */
  readonly eventlessMs: number;
  /** Since the last event, if there has been one: the beginning of a subscription does not count. */
  readonly unfedMs: number;
}

/** While events are being admitted. */
export const notQuiet: QuietTimes = { silentMs: 0, deafMs: 0, unansweredMs: 0, eventlessMs: 0, unfedMs: 0 };

export const quietAt = (now: number, { subscribed, heard, refused, event }: LifeSigns): QuietTimes => ({
  silentMs: now - Math.max(subscribed, heard),
  deafMs: now - heard,
  unansweredMs: now - Math.max(heard, refused),
  eventlessMs: now - Math.max(subscribed, event),
  unfedMs: now - event,
});
