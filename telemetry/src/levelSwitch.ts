/** What the switch needs of `process`. */
interface SignalSource {
  on(signal: 'SIGUSR2', switched: () => void): unknown;
}

/** What it needs of the log. */
interface SwitchedLog {
  level: string;
  info(fields: object, message: 'log level changed'): void;
}

/** Each SIGUSR2 switches between `debug` and the level of the settings. */
export function switchLevelOnSignal(source: SignalSource, log: SwitchedLog): void {
  const own = log.level;
  source.on('SIGUSR2', () => {
    const level = log.level === 'debug' ? own : 'debug';
    // Written while more is logged: at `warn` the line would be missing.
    if (level === 'debug') log.level = level;
    log.info({ logLevel: level }, 'log level changed');
    log.level = level;
  });
}
