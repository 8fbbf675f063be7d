import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { printable, printableJson } from 'telemetry/printable.ts';
import type { DeadLetter } from '../deadLetters/deadLetter.ts';
import { openDeadLetters } from '../deadLetters/open.ts';
import type { DeadLetters } from '../deadLetters/store.ts';
import { createLog } from '../log/log.ts';
import { thisBuild } from '../operations/build.ts';
import { type Choice, chosenLetters } from '../operations/choice.ts';
import { lineOf, summaryOf } from '../operations/lines.ts';
import { rememberingFailures, replay } from '../operations/replay.ts';
import { ConfigurationError, configDirectory, readSettings, type Settings } from '../settings/config.ts';
import { openTraces } from '../tracing/open.ts';
import { createHandling } from './handling.ts';

/** The operator's command for dead letters. */

const usage = `Usage: dead-letters COMMAND [options]

  list      one line for each dead letter
  show ID   one dead letter, whole
  replay    handles dead letters again, each device's in order; those that
            succeed are deleted

  --device D   only of this device
  --since T    only parked at or after this time (2026-01-31, or
               2026-01-31T12:00:00Z)
  --code C     only with this result code
  --dry-run    replay: say what would be done
  --verbose    replay: the service's log line for each dead letter, as LOG_LEVEL
               says; else warnings only
`;

/** Devices whose dead letters are handled at once. */
const width = 16;

const progressEveryMs = 2_000;

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1); // `list | head` closes the pipe early
});
process.exitCode = await run(process.argv.slice(2)).catch((error: Error) => {
  say(error instanceof ConfigurationError ? error.problems.join('\n') : error.message);
  return 1;
});

async function run(args: string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      device: { type: 'string' },
      since: { type: 'string' },
      code: { type: 'string' },
      'dry-run': { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const [command, id = ''] = positionals;
  const choice: Choice = { device: values.device, code: values.code, since: timeOf(values.since) };
  if (command === undefined || values.help) {
    process.stdout.write(usage);
    return values.help ? 0 : 1;
  }
  const settings = readSettings(process.env, configDirectory);
  const level = values.verbose ? (settings.log.level as Parameters<typeof createLog>[0]) : 'warn';
  const log = createLog(level);
  const deadLetters = openDeadLetters(settings, log);
  switch (command) {
    case 'list':
      return list(deadLetters, choice);
    case 'show':
      return show(id, await deadLetters.read(id));
    case 'replay':
      return replayAll(settings, log, deadLetters, choice, values['dry-run']);
    default:
      throw new Error(`there is no command ${command}\n\n${usage}`);
  }
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

function timeOf(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new Error('--since must be a date, or a date and time');
  return time;
}

/** @returns exit code: 1 when a dead letter was skipped */
async function list(deadLetters: DeadLetters, choice: Choice): Promise<number> {
  let [listed, passedOver] = [0, 0];
  const letters = chosenLetters(deadLetters, choice, ({ message }) => {
    passedOver += 1;
    say(`passed over: ${printable(message)}`);
  });
  for await (const letter of letters) {
    listed += 1;
    process.stdout.write(`${lineOf(letter)}\n`);
  }
  say(`${listed} dead letters`);
  return passedOver === 0 ? 0 : 1;
}

function show(id: string, letter: DeadLetter | undefined): number {
  if (letter === undefined) throw new Error('there is no dead letter of this id: `list` shows them');
  const { event, ...rest } = letter;
  const body = event.body instanceof Uint8Array ? Buffer.from(event.body).toString('utf8') : event.body;
  process.stdout.write(`${printableJson(JSON.stringify({ id, ...rest, event: { ...event, body } }, null, 2))}\n`);
  return 0;
}

async function replayAll(
  settings: Settings,
  log: ReturnType<typeof createLog>,
  store: DeadLetters,
  choice: Choice,
  isDryRun: boolean,
): Promise<number> {
  say('These older messages can overwrite what devices have sent since.');
  if (isDryRun) {
    say('Dry run: nothing is done. To be replayed:');
    return list(store, choice);
  }
  const ids: string[] = [];
  let passedOver = 0;
  const letters = chosenLetters(store, choice, ({ message }) => {
    passedOver += 1;
    say(`passed over: ${printable(message)}`);
  });
  for await (const { id } of letters) ids.push(id);
  say(`${ids.length} dead letters to replay`);

  const { deadLetters, failureOf } = rememberingFailures(store);
  const { version } = thisBuild(process.env);
  const program = { name: 'device-messaging-dead-letters', version, instance: randomUUID() };
  const traces = await openTraces(process.env, { ...program, log });
  const handling = createHandling(settings, log, { deadLetters, traces });
  const stopping = new AbortController();
  const stop = () => {
    if (stopping.signal.aborted) process.exit(130);
    say('stopping after the dead letters in work; once more to end at once');
    stopping.abort();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  let saidAt = 0;
  try {
    const replayed = await replay(ids, {
      dispatch: handling.dispatch,
      requirementOf: handling.requirementOf,
      deadLetters,
      failureOf,
      stopping: stopping.signal,
      width,
      remark: (text) => say(printable(text)),
      progress(done, all) {
        if (performance.now() - saidAt < progressEveryMs) return;
        saidAt = performance.now();
        say(`${done} of ${all}`);
      },
    });
    say(summaryOf(replayed));
    return replayed.handled + replayed.gone === ids.length && passedOver === 0 ? 0 : 1;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    await handling.close();
  }
}
