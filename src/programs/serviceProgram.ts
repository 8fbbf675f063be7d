import { readSettings } from '../settings/config.ts';
import { unusableDirectories, usedDirectories } from '../stores/directories.ts';
import { runProgram } from './program.ts';
import { startService } from './service.ts';

const usage = `Usage: node dist/main.js    (npm start reads .env, too)

The device messaging service: carries messages of devices from an IoT hub to the
backends, and answers the devices.

It takes no arguments. Settings come from environment variables, and from
config/<NODE_ENV>.json or the file in CONFIG_FILE. docs/settings.md and
.env.example list them all. A wrong setting stops the start with a sentence.

It writes its log to stdout, answers health checks and /metrics on HTTP_PORT,
and stops on SIGTERM or Ctrl-C when what is in progress is done.
`;

void runProgram({
  name: 'The service',
  usage,
  telemetryName: 'device-messaging',
  readSettings,
  problems: (settings) => unusableDirectories(usedDirectories(settings)),
  start: startService,
});
