import { existsSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesBelow, loadedFrom, reachedFrom } from './imports.ts';

const tests = ['test', 'iot-hub-emulator/test'].flatMap(filesBelow).filter((file) => file.endsWith('.test.ts'));

describe('what a test reaches', () => {
  it('is there: a file of the project, or a package', () => {
    const all = new Set(tests.flatMap((file) => [...reachedFrom(file)]));
    const isPackage = (name: string) =>
      isBuiltin(name) || existsSync(join('node_modules', name.replace(/(?<=\w)\/.*$/, '')));
    expect([...all].filter((name) => !existsSync(name) && !isPackage(name))).toEqual([]);
    expect(all).not.toContain('own-lib/words'); // test/scripts/run.test.ts has it in the text of a program
  });
  it.each([
    ['a program beside what it loads, by new URL()', 'test/mutants/trial.test.ts', 'scripts/mutants/runnerProcess.ts'],
    ['a file beside it that is preloaded', 'test/chaos/instance.ts', 'test/chaos/settableClock.js'],
    ['a script that scripts/run.js runs', 'test/scripts/newMessage.test.ts', 'scripts/newMessage/skeletons.ts'],
    ['a script whose name another file passes on', 'test/e2e/commands/methodsDevice.test.ts', 'sandbox/device/main.ts'],
    ['the sources of a built program', 'test/methods/process.test.ts', 'src/messages/model.update.ts'],
    ['the sources of the built edge proxy', 'test/scripts/help.test.ts', 'edge/src/files/download.ts'],
  ])('has %s, which it does not load', (_, file, reached) => {
    expect(reachedFrom(file)).toContain(reached);
    expect(loadedFrom(file)).not.toContain(reached);
  });
  it.each([
    ['what it replaces', 'test/settings/everySetting.test.ts', 'src/backends/tokens.ts'],
    ['a part of telemetry', 'test/telemetry/line.test.ts', 'telemetry/src/log.ts'],
    ['the sources of the emulator', 'test/hub/reader.test.ts', 'iot-hub-emulator/src/amqp/cbs.ts'],
    ['what it imports later', 'iot-hub-emulator/src/command/main.ts', 'iot-hub-emulator/src/hub.ts'],
    ['packages by their names', 'test/hub/reader.test.ts', '@azure/event-hubs'],
  ])('has %s, which it loads', (_, file, loaded) => expect(loadedFrom(file)).toContain(loaded));
  it('has nothing of which only types are imported', () =>
    expect(loadedFrom('test/chaos/hubOrder.ts')).not.toContain('test/chaos/stage.ts'));

  it('has the paths of the file: whole ones, where that has a whole one', () => {
    const reached = reachedFrom(`${process.cwd()}/test/e2e/drain.test.ts`);
    for (const file of ['src/programs/main.ts', 'telemetry/src/log.ts', 'iot-hub-emulator/src/hub.ts'])
      expect(reached).toContain(`${process.cwd()}/${file}`);
  });
});
