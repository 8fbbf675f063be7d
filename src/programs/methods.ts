import { readCertificate } from '../methods/certificate.ts';
import { startFrontDoor } from '../methods/frontDoor.ts';
import { configDirectory, readMethodsSettings } from '../settings/config.ts';
import { runProgram } from './program.ts';

/** The front door: remote methods over HTTP (M1). */
await runProgram({
  name: 'The front door',
  telemetryName: 'device-messaging-methods',
  readSettings() {
    const settings = readMethodsSettings(process.env, configDirectory);
    readCertificate(settings.methods);
    return settings;
  },
  start: (settings, log, instance, traces) => startFrontDoor(settings, log, undefined, traces, instance),
});
