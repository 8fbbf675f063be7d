import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { preparePlatform } from '../access/network.ts';
import { flag, runCommand, showUsage, text } from '../admin/commands.ts';
import { useHubTransport } from '../hub/hubTransport.ts';
import { createLog } from '../observing/log.ts';
import { openTraces } from '../observing/traces.ts';
import { choiceOf, deleteLetters, list, show } from '../operations/deadLetterCommands.ts';
import { replayChosen } from '../operations/replay.ts';
import { configDirectory, readSettings } from '../settings/config.ts';
import { versionOfBuild } from '../settings/derived.ts';
import { openDeadLetters } from '../stores/open.ts';
import { createHandling } from './handling.ts';

const usage = `Usage: dead-letters COMMAND [options]

  list         one line for each dead letter
  show ID      one dead letter, whole
  replay       handles dead letters again, each device's in order;
               those that succeed are deleted
  delete ID…   deletes dead letters without handling them; without an ID,
               those that the options say

  --device D   only of this device
  --since T    only parked at or after this time (2026-01-31, or
               2026-01-31T12:00:00Z)
  --before T   only parked before this time
  --code C     only with this result code
  --dry-run    replay, delete: say what would be done
  --verbose    replay: the service's log line for each dead letter, as
               LOG_LEVEL says; else warnings only
`;

const options = { device: text, since: text, before: text, code: text, 'dry-run': flag, verbose: flag, help: flag };

void runCommand(async (args) => {
  const { positionals, values } = parseArgs({ args, allowPositionals: true, options });
  const [command, ...ids] = positionals;
  if (command === undefined || values.help) return showUsage(usage, values.help);
  const choice = choiceOf(values);
  const isDryRun = values['dry-run'];
  const settings = readSettings(process.env, configDirectory);
  preparePlatform(settings, process.env);
  const log = createLog(values.verbose ? (settings.log.level as Parameters<typeof createLog>[0]) : 'warn');
  const store = openDeadLetters(settings, log);
  switch (command) {
    case 'list':
      return list(store, choice);
    case 'show':
      return show(store, ids[0] ?? '');
    case 'delete':
      return deleteLetters(store, { ids, choice, isDryRun });
    case 'replay':
      return replayChosen(store, choice, {
        isDryRun,
        async open(deadLetters) {
          const version = versionOfBuild(process.env);
          const program = { service: 'device-messaging-dead-letters', version, instance: randomUUID() };
          await useHubTransport(settings.hub);
          const traces = await openTraces(process.env, { ...program, log });
          return createHandling(settings, log, { deadLetters, traces });
        },
      });
    default:
      throw new Error(`there is no command ${command}\n\n${usage}`);
  }
});
