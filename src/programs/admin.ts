import { parseArgs } from 'node:util';
import { askAdmin, flag, runCommand, showUsage, text } from '../admin/commands.ts';
import { lookAtFleet, readableFleet } from '../admin/fleet.ts';
import { configDirectory, readAdminSettings } from '../settings/config.ts';

const usage = `Usage: admin [PATH] [options]

Asks the admin port of the running program and prints its answer. Without PATH:
all that can be asked.

  --level L     changes the level of the log, until the next start
  --url U       address of the admin port; default http://127.0.0.1:<ADMIN_PORT>
  --all HOSTS   a table of all instances: their admin ports as host:port, with
                commas between; a name with several addresses (a headless
                service) stands for each

For example: admin /devices?device=pump-7

ADMIN_TOKEN is sent if it is set.
`;

const options = { level: text, url: text, all: text, help: flag };

void runCommand(async (args) => {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
  const { level, url, all, help } = values;
  const isWrong = positionals.length > 1 || [level, all, ...positionals].filter(Boolean).length > 1;
  if (help || isWrong) return showUsage(usage, help);
  const settings = readAdminSettings(process.env, configDirectory);
  if (all !== undefined) {
    process.stdout.write(readableFleet(await lookAtFleet(all, settings.token)));
    return 0;
  }
  const path = level === undefined ? (positionals[0] ?? '/') : '/level';
  const response = await askAdmin(settings, url, path, level === undefined ? undefined : { level });
  process.stdout.write(await response.text());
  return 0;
});
