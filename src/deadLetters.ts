import { parseArgs } from 'node:util';
import { ConfigurationError, configDirectory, readSettings, type Settings } from './config.ts';
import { createHandling } from './handling.ts';
import { createLog } from './log.ts';
import { createDeadLetters, type Filed } from './operations/deadLetters.ts';
import { type Choice, chosen, replay } from './operations/replay.ts';

/** The operator's command for messages that failed through the service's own side. */

const usage = `Usage: dead-letters COMMAND [options]

  list      one line for each letter
  show ID   one letter, whole
  replay    handles letters again, each device's in order; those that succeed are deleted

  --device D   only of this device
  --since T    only parked at or after this time (2026-01-31, or 2026-01-31T12:00:00Z)
  --code C     only with this result code
  --dry-run    replay: say what would be done
`;

process.exitCode = await run(process.argv.slice(2)).catch((error: Error) => {
  process.stderr.write(`${error instanceof ConfigurationError ? error.problems.join('\n') : error.message}\n`);
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
      help: { type: 'boolean', default: false },
    },
  });
  const [command, id] = positionals;
  const choice: Choice = { device: values.device, code: values.code, since: timeOf(values.since) };
  if (command === undefined || values.help) {
    process.stdout.write(usage);
    return values.help ? 0 : 1;
  }
  const settings = readSettings(process.env, configDirectory);
  switch (command) {
    case 'list':
      return list(chosen(await lettersOf(settings).list(), choice));
    case 'show':
      return show((await lettersOf(settings).list()).find((one) => one.id === id));
    case 'replay':
      return replayAll(settings, choice, values['dry-run']);
    default:
      throw new Error(`there is no command ${command}\n\n${usage}`);
  }
}

function timeOf(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new Error('--since must be a date, or a date and time');
  return time;
}

function lettersOf({ deadLetters }: Settings) {
  const retentionMs = deadLetters.retentionDays * 24 * 60 * 60_000;
  return createDeadLetters(deadLetters.directory, { ...deadLetters, retentionMs }, Date.now);
}

function list(letters: readonly Filed[]): number {
  for (const { id, letter } of letters) {
    const { deviceId, code, details, attempts, parkedAt, event } = letter;
    const name = event.properties?.['action'] ?? event.properties?.['eventType'];
    process.stdout.write(
      `${id}  ${parkedAt.toISOString()}  ${JSON.stringify(deviceId)}  ${String(name)}  ${code}  attempts ${attempts}  ${details}\n`,
    );
  }
  process.stderr.write(`${letters.length} dead letters\n`);
  return 0;
}

function show(found: Filed | undefined): number {
  if (found === undefined) throw new Error('there is no letter of this id: `list` shows them');
  const { event, ...rest } = found.letter;
  const body = event.body instanceof Uint8Array ? Buffer.from(event.body).toString('utf8') : event.body;
  process.stdout.write(`${JSON.stringify({ id: found.id, ...rest, event: { ...event, body } }, null, 2)}\n`);
  return 0;
}

async function replayAll(settings: Settings, choice: Choice, isDryRun: boolean): Promise<number> {
  const handling = createHandling(settings, createLog(settings.log.level as Parameters<typeof createLog>[0]));
  try {
    const letters = chosen(await handling.deadLetters.list(), choice);
    process.stderr.write(
      `${letters.length} dead letters to replay${isDryRun ? ' (dry run: nothing is done)' : ''}\n` +
        'What devices have said since may be overwritten by these older messages.\n',
    );
    if (isDryRun) return list(letters);
    const { handled, failed } = await replay(letters, handling, (done, all) =>
      process.stderr.write(`${done}/${all}\n`),
    );
    process.stderr.write(`${handled} handled, ${failed} parked again\n`);
    return failed === 0 ? 0 : 1;
  } finally {
    await handling.close();
  }
}
