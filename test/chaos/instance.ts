import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { onExit } from '../../sandbox/service/onExit.ts';
import { startService } from '../../sandbox/service/process.ts';
import { fatalLine, fatalMessages } from '../support/processes.ts';
import { createKeptProcess } from './keptProcess.ts';
import { createLogReader } from './logLines.ts';

const settableClock = pathToFileURL(join(import.meta.dirname, 'settableClock.js')).href;

/** A process of the service that is started, stopped and killed, again and again, and kept up when a message ends it. */
export function createInstance(options: {
  readonly directory: string;
  readonly serviceDirectory: string;
  readonly url: string;
  readonly environment: Readonly<Record<string, string>>;
  onFatalEnd(): void;
}) {
  const { directory, serviceDirectory, url, environment, onFatalEnd } = options;
  const logFile = join(directory, 'service.log');
  const lines = createLogReader(logFile);
  const clockFile = join(directory, 'clock-ahead-ms');
  writeFileSync(clockFile, '0');
  const additions = {
    NODE_OPTIONS: `${environment['NODE_OPTIONS'] ?? ''} --import=${settableClock} ${fatalMessages.NODE_OPTIONS}`,
    CLOCK_AHEAD_FILE: clockFile,
  };
  const ending = new AbortController();
  const codes: (number | null)[] = [];
  let working: Promise<unknown> = Promise.resolve();
  const kept = createKeptProcess({
    start: (signal) =>
      startService({
        ...{ environment: { ...environment, ...additions }, readyzUrl: `${url}/readyz`, logFile },
        directory: serviceDirectory,
        readyWithinMs: 300_000, // on a machine that is busy with other things
        signal,
      }),
    fatalEnds: async () => (await lines()).filter(({ msg }) => msg === fatalLine).length,
    onFatalEnd,
  });
  const cancel = onExit(() => kept.signal('SIGKILL'));

  return {
    start: kept.start,
    /** SIGTERM; `codes` has the exit codes after each. */
    async stop() {
      const code = await kept.stop();
      if (code !== undefined) codes.push(code);
    },
    ...{ codes, kill: kept.kill, isUp: kept.isUp },
    freeze: () => kept.signal('SIGSTOP'),
    thaw: () => kept.signal('SIGCONT'),
    /** Somebody sets the clock of its machine: so far ahead of the right time, or behind it when negative. */
    setClock(aheadMs: number) {
      writeFileSync(clockFile, String(aheadMs));
      kept.signal('SIGWINCH');
    },
    async end() {
      ending.abort(new Error('the run is over'));
      await kept.end();
      cancel();
    },
    /**
     * Runs one piece of work after the other: nobody kills what somebody else is starting.
     * @throws what the work throws, and an error when the run is over before its turn
     */
    alone<T>(work: () => Promise<T>): Promise<T> {
      const turn = working.then(() => {
        ending.signal.throwIfAborted();
        return work();
      });
      working = turn.catch(() => undefined);
      return turn;
    },
    /** Everything it has logged, whichever process it was; with the right times, also while its clock was wrong. */
    lines,
    async metrics() {
      const answer = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(30_000) });
      return answer.text();
    },
  };
}

export type Instance = ReturnType<typeof createInstance>;
