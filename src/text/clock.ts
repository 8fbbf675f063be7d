/** Tokens are good for an hour, signatures of storage for a quarter of one: less does no harm. */
const harmfulMs = 5 * 60_000;

const synchronise = 'synchronise the clock of this machine (NTP)';

/**
 * What an operator can do about a refused token or signature. A wrong key and a wrong clock are refused alike: one that is behind
 * makes tokens that have expired.
 * @param mend what to do about the key, or the rights
 * @param said the words of the refusal; those of AMQP may tell the time: `Timestamp:2026-01-02T03:04:05`
 * @param date the header of that name, if there is one
 */
export function keyOrClock(mend: string, said: string, date = ''): string {
  const behindMs = toldTime(date || (/\btimestamp: ?([\d/:T -]+)/i.exec(said)?.[1] ?? '')) - Date.now();
  if (Number.isNaN(behindMs))
    return /expired/i.test(said)
      ? `${synchronise}: a token that has just been made counts as expired. If it is right, ${mend}`
      : `${mend}; or ${synchronise}: with a wrong one, tokens are refused too`;
  if (Math.abs(behindMs) < harmfulMs) return mend;
  const side = behindMs > 0 ? 'behind' : 'ahead of';
  return `${synchronise}: it is ${Math.round(Math.abs(behindMs) / 1000)} s ${side} theirs. If that does not help, ${mend}`;
}

/** In UTC, whether it says so or not; NaN when it is no time. */
const toldTime = (text: string): number =>
  Date.parse(text.includes('GMT') ? text : text.includes('T') ? `${text.trim()}Z` : `${text} UTC`);
