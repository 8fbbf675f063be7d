import type { LogLines as LinesOf, LogLevel, Log as LogOf, LogOptions } from '@device-messaging/telemetry/log.ts';
import { createLog as createLogOf } from '@device-messaging/telemetry/log.ts';
import { eventOf, events, type LogText } from './events.ts';

/** The part of the log that most modules need. Each text is in the list of events. */
export type LogLines = LinesOf<typeof events>;

/** The log of the service and the front door. The line of a message (G5) has no `event`. */
export type Log = LogOf<typeof events, 'handled'>;

export const createLog = (level: LogLevel, to?: Parameters<typeof createLogOf>[2], options?: LogOptions): Log =>
  createLogOf(events, level, to, options);

/** The log that lines of a log with fields of its own come to. */
const origins = new WeakMap<object, object>();

const originOf = (log: object): object => origins.get(log) ?? log;

export function withFields(log: LogLines, own: object): LogLines {
  const view: LogLines = {
    info: (fields, message) => log.info({ ...own, ...fields }, message),
    warn: (fields, message) => log.warn({ ...own, ...fields }, message),
    error: (fields, message) => log.error({ ...own, ...fields }, message),
  };
  origins.set(view, originOf(log));
  return view;
}

export type Trouble = (
  | { readonly level: 'warn'; readonly message: LogText<'warn'> }
  | { readonly level: 'error'; readonly message: LogText<'error'> }
) & {
  readonly fields?: object;
  /** Why, and what to do: only while it lasts. */
  readonly diagnosis?: object;
  /** For a state that lasts until `clear`: fields of the line that is written every minute, also without a call of `raise`. */
  readonly still?: () => object;
};

type End = { readonly message?: LogText<'info'> | undefined; readonly fields?: object | undefined };

interface Episode {
  latest: Trouble;
  since: number;
  total: number;
  /** Since the last line. */
  times: number;
  /** Starts since the last line of a minute. */
  turns: number;
  /** Set when it is over: then it is kept until its next minute, in case it comes again. */
  end: 'written' | End | undefined;
  timer: NodeJS.Timeout;
}

/** By the log that their lines come to: each part of a program has troubles of its own. */
const all = new WeakMap<object, Set<ReadonlyMap<string, Episode>>>();

/** All troubles of a program that are not over, those first that began last; `times` is how often each was raised. */
export function currentTroubles(log: LogLines) {
  return [...(all.get(originOf(log)) ?? [])]
    .flatMap((episodes) => [...episodes.values()].filter(({ end }) => end === undefined))
    .sort((one, other) => other.since - one.since)
    .map((episode) => {
      const { latest, total } = episode;
      const { level, message } = latest;
      const fields = { ...told(latest), ...latest.still?.() };
      return { event: eventOf(message) ?? '', level, message, fields, times: total, forSeconds: secondsOf(episode) };
    });
}

const minuteMs = 60_000;
const mostTurns = 3;

/** Sources beyond this number are logged as one. */
const maxSources = 1_000;
const furtherSources = 'further sources';

export type Troubles = ReturnType<typeof createTroubles>;

/**
 * Limits the log lines about repeated trouble to one at the start, one a minute with a count and one at the end, for each source (D343). Of a
 * source that flaps, `mostTurns` starts and ends are written in a minute; then its trouble counts as one that lasts.
 * @param amounts fields of the lines of each minute: how much waits meanwhile
 */
export function createTroubles(log: LogLines, amounts?: () => object) {
  const episodes = new Map<string, Episode>();
  const origin = originOf(log);
  const ofLog = all.get(origin) ?? new Set();
  all.set(origin, ofLog.add(episodes));

  const write = ({ level, message }: Trouble, fields: object) => log[level](fields, message as never);

  function everyMinute(source: string) {
    const episode = episodes.get(source);
    if (episode === undefined) return;
    const { latest, times, end } = episode;
    if (end !== undefined || (times === 0 && latest.still === undefined)) {
      if (end !== 'written') writeEnd(episode, end ?? {});
      clearInterval(episode.timer);
      episodes.delete(source);
      return;
    }
    write(latest, { ...told(latest), ...latest.still?.(), ...amounts?.(), times, forSeconds: secondsOf(episode) });
    episode.times = 0;
    episode.turns = 0;
  }

  function writeEnd(episode: Episode, { message, fields }: End) {
    const { latest, total } = episode;
    const named = message === undefined ? { trouble: eventOf(latest.message) } : {};
    const ended = { ...named, ...(fields ?? latest.fields), times: total, forSeconds: secondsOf(episode) };
    log.info(ended, message ?? 'trouble is over');
  }

  return {
    /** The first trouble of a source is written at once; of further ones the latest in each minute, with their number as `times`. */
    raise(named: string, trouble: Trouble): void {
      const source = episodes.has(named) || episodes.size < maxSources ? named : furtherSources;
      const known = episodes.get(source);
      if (known !== undefined && known.end !== 'written') {
        known.latest = trouble;
        known.end = undefined;
        known.total += 1;
        known.times += 1;
        return;
      }
      clearInterval(known?.timer);
      const turns = (known?.turns ?? 0) + 1;
      const timer = setInterval(everyMinute, minuteMs, source).unref();
      const begun = { since: performance.now(), total: 1, times: 0, turns, end: undefined, timer };
      episodes.set(source, { latest: trouble, ...begun });
      write(trouble, told(trouble));
    },
    /** Ends the trouble of a source and writes a line with the total of `times`. A minute without trouble ends it too. */
    clear(source: string, message?: LogText<'info'>, fields?: object): void {
      const episode = episodes.get(source);
      if (episode === undefined || episode.end === 'written') return;
      const end = { message, fields };
      const isWritten = episode.turns < mostTurns;
      if (isWritten) writeEnd(episode, end);
      episode.end = isWritten ? 'written' : end;
    },
    close(): void {
      for (const { timer } of episodes.values()) clearInterval(timer);
      episodes.clear();
      ofLog.delete(episodes);
    },
  };
}

const told = ({ fields, diagnosis }: Trouble): object => ({ ...fields, ...diagnosis });

const secondsOf = ({ since }: Episode): number => Math.round((performance.now() - since) / 1000);
