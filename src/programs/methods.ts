import { missingOfPlatform } from '../access/identity.ts';
import { readCertificate } from '../access/secretFiles.ts';
import { startFrontDoor } from '../methods/frontDoor.ts';
import { ConfigurationError, configDirectory, readMethodsSettings } from '../settings/config.ts';
import { runProgram, takeNoArguments } from './program.ts';

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

takeNoArguments('The front door', usage);
await runProgram({
  name: 'The front door',
  telemetryName: 'device-messaging-methods',
  readSettings() {
    const settings = readMethodsSettings(process.env, configDirectory);
    const problems = missingOfPlatform(settings.identity, process.env);
    if (problems.length > 0) throw new ConfigurationError(problems);
    readCertificate(settings.methods);
    return settings;
  },
  start: (settings, log, instance, traces) => startFrontDoor(settings, log, undefined, traces, instance),
});
