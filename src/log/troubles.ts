import type { LogLines } from './log.ts';

/** What the log says about a source of trouble. */
export interface Trouble {
  readonly level: 'warn' | 'error';
  readonly message: string;
  readonly fields?: object;
  /**
   * For a state that lasts until `over`, such as an outage: the fields of the line that is written every minute, also in
   * minutes without a call of `met`.
   */
  readonly still?: () => object;
}

/** Limits the log lines about repeated trouble to one at the start, one a minute with a count and one at the end, for each source. */
export interface Troubles {
  /**
   * Reports trouble of a source. The first is written at once. Of further ones only the latest in each minute is written,
   * with their number as `times`.
   */
  met(source: string, trouble: Trouble): void;
  /** Ends the trouble of a source and writes a line with the total of `times`. A minute without trouble ends it too. */
  over(source: string, message?: string, fields?: object): void;
  /** Ends without further lines. */
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

/** Sources beyond this number are logged as one. */
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
