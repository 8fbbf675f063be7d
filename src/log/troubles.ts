import type { LogLines } from './log.ts';

/** What is written about a source of trouble. */
export interface Trouble {
  readonly level: 'warn' | 'error';
  readonly message: string;
  readonly fields?: object;
  /**
   * For a state that lasts until `over`, such as an outage: what each minute's line says of it, also when nothing was
   * met in that minute.
   */
  readonly still?: () => object;
}

/** Writes trouble that repeats: one line at the start, one each minute with a count, one at the end, for every source. */
export interface Troubles {
  /**
   * The source has met trouble, for the first time or again. The first is written at once. Of those that follow in a
   * minute only the latest is written, with `times`, their number, when the minute is over.
   */
  met(source: string, trouble: Trouble): void;
  /** The source has none any more: written, with all `times`, if there was any. A whole minute without any says so too. */
  over(source: string, message?: string, fields?: object): void;
  /** Writes nothing more. */
  close(): void;
}

interface Episode {
  latest: Trouble;
  readonly since: number;
  total: number;
  /** Since the last line. */
  times: number;
  readonly timer: NodeJS.Timeout;
}

const minuteMs = 60_000;

/** Sources beyond this number are written as one. */
const maxSources = 1_000;
const furtherSources = 'further sources';

export function createTroubles(log: LogLines): Troubles {
  const episodes = new Map<string, Episode>();

  function write(episode: Episode) {
    const { level, message, fields, still } = episode.latest;
    log[level]({ ...fields, ...still?.(), times: episode.times, forSeconds: secondsOf(episode) }, message);
    episode.times = 0;
  }

  function everyMinute(source: string) {
    const episode = episodes.get(source);
    if (episode === undefined) return;
    if (episode.times === 0 && episode.latest.still === undefined) over(source);
    else write(episode);
  }

  function over(source: string, message?: string, fields?: object) {
    const episode = episodes.get(source);
    if (episode === undefined) return;
    clearInterval(episode.timer);
    episodes.delete(source);
    const { latest, total } = episode;
    const ended = { ...(fields ?? latest.fields), times: total, forSeconds: secondsOf(episode) };
    log.info(ended, message ?? `over: ${latest.message}`);
  }

  return {
    met(named, trouble) {
      const source = episodes.has(named) || episodes.size < maxSources ? named : furtherSources;
      const known = episodes.get(source);
      if (known !== undefined) {
        known.latest = trouble;
        known.total += 1;
        known.times += 1;
        return;
      }
      const timer = setInterval(everyMinute, minuteMs, source).unref();
      episodes.set(source, { latest: trouble, since: performance.now(), total: 1, times: 0, timer });
      log[trouble.level]({ ...trouble.fields }, trouble.message);
    },
    over,
    close() {
      for (const { timer } of episodes.values()) clearInterval(timer);
      episodes.clear();
    },
  };
}

const secondsOf = ({ since }: Episode): number => Math.round((performance.now() - since) / 1000);
