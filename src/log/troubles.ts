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

interface Course {
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
  const courses = new Map<string, Course>();

  function write(course: Course) {
    const { level, message, fields, still } = course.latest;
    log[level]({ ...fields, ...still?.(), times: course.times, forSeconds: secondsOf(course) }, message);
    course.times = 0;
  }

  function everyMinute(source: string) {
    const course = courses.get(source);
    if (course === undefined) return;
    if (course.times === 0 && course.latest.still === undefined) over(source);
    else write(course);
  }

  function over(source: string, message?: string, fields?: object) {
    const course = courses.get(source);
    if (course === undefined) return;
    clearInterval(course.timer);
    courses.delete(source);
    const { latest, total } = course;
    const ended = { ...(fields ?? latest.fields), times: total, forSeconds: secondsOf(course) };
    log.info(ended, message ?? `over: ${latest.message}`);
  }

  return {
    met(named, trouble) {
      const source = courses.has(named) || courses.size < maxSources ? named : furtherSources;
      const known = courses.get(source);
      if (known !== undefined) {
        known.latest = trouble;
        known.total += 1;
        known.times += 1;
        return;
      }
      const timer = setInterval(everyMinute, minuteMs, source).unref();
      courses.set(source, { latest: trouble, since: performance.now(), total: 1, times: 0, timer });
      log[trouble.level]({ ...trouble.fields }, trouble.message);
    },
    over,
    close() {
      for (const { timer } of courses.values()) clearInterval(timer);
      courses.clear();
    },
  };
}

const secondsOf = ({ since }: Course): number => Math.round((performance.now() - since) / 1000);
