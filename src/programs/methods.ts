import { readCertificate } from '../access/secretFiles.ts';
import { startFrontDoor } from '../methods/frontDoor.ts';
import { readMethodsSettings } from '../settings/config.ts';
import { runProgram } from './program.ts';

/** The front door: remote methods over HTTP (M1). */

const usage = `Usage: node dist/methods.js    (npm run methods reads .env, too)

The front door of remote methods: takes invocations of applications over HTTP,
and has the devices of an IoT hub answer them. docs/methods.md describes both.

It takes no arguments. Settings come from environment variables, and from
config/<NODE_ENV>.json or the file in CONFIG_FILE. docs/settings.md and
.env.example list them all. A wrong setting stops the start with a sentence.

It takes invocations on METHODS_PORT, writes its log to stdout, answers health
checks and /metrics on HTTP_PORT, and stops on SIGTERM or Ctrl-C when the
invocations in progress are done.
`;

void runProgram({
  name: 'The front door',
  usage,
  telemetryName: 'device-messaging-methods',
  readSettings(env, directory) {
    const settings = readMethodsSettings(env, directory);
    readCertificate(settings.methods);
    return settings;
  },
  start: (settings, log, instance, traces) => startFrontDoor(settings, log, undefined, traces, instance),
});
