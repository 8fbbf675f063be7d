import { configDirectory, readMethodsSettings } from './config.ts';
import { startFrontDoor } from './methods/frontDoor.ts';
import { runProgram } from './program.ts';

/** The front door: remote methods over HTTP (M1). */
await runProgram({
  name: 'The front door',
  readSettings: () => readMethodsSettings(process.env, configDirectory),
  start: startFrontDoor,
  finishing: 'the invocations in work',
});
