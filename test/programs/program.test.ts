import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runProgram } from '../../src/programs/program.ts';
import { ConfigurationError } from '../../src/settings/config.ts';
import { settings } from '../support/environment.ts';
import { signal } from '../support/waiting.ts';

const quiet = { ...settings, log: { ...settings.log, level: 'silent' } };

/** What the program listens to, and the codes with which it ends its process: the process of this test goes on. */
const handlers = new Map<unknown, (...given: unknown[]) => void>();
const exits: unknown[] = [];
let written = '';

beforeEach(() => {
  vi.spyOn(process, 'on').mockImplementation((name, handler) => {
    handlers.set(name, handler);
    return process;
  });
  vi.spyOn(process, 'exit').mockImplementation((code) => {
    exits.push(code);
    return undefined as never;
  });
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    written += text;
    return true;
  });
});

afterEach(() => {
  handlers.clear();
  exits.length = 0;
  written = '';
});

/** Its stop ends when the test says so. */
async function started() {
  const { given: over, give: endStop } = signal<Error | undefined>();
  const { given: restart, give: needsRestart } = signal();
  let stops = 0;
  await runProgram({
    ...{ name: 'The program', usage: '', telemetryName: 'program' },
    readSettings: () => quiet,
    start: async () => ({
      restart,
      async stop() {
        stops += 1;
        const error = await over;
        if (error) throw error;
      },
    }),
  });
  return {
    stops: () => stops,
    async needsRestart() {
      needsRestart();
      await new Promise(setImmediate);
    },
    async endStop(error?: Error) {
      endStop(error);
      await new Promise(setImmediate);
    },
  };
}

const give = (name: string) => handlers.get(name)?.(name);

describe('a program', () => {
  it.each(['SIGTERM', 'SIGINT'])('stops at %s, and ends when that is over', async (name) => {
    const { stops, endStop } = await started();
    give(name);
    await new Promise(setImmediate);
    expect([stops(), exits]).toEqual([1, []]);
    await endStop();
    expect([stops(), exits]).toEqual([1, [0]]);
  });
  it.each([
    ['SIGTERM', 'SIGTERM'],
    ['SIGTERM', 'SIGINT'],
    ['SIGINT', 'SIGTERM'],
    ['SIGINT', 'SIGINT'],
  ])('that stops after %s ends at once, with 1, at %s', async (first, second) => {
    const { endStop } = await started();
    give(first);
    expect(exits).toEqual([]);
    give(second);
    expect(exits).toEqual([1]);
    await endStop();
  });
  it.each([
    ['ends with 75 when it is to be started again', [], 75],
    ['that ends for that ends with 0 when it is told to stop, too', ['SIGTERM'], 0],
    ['that ends for that ends at once at a second signal', ['SIGTERM', 'SIGINT'], 1],
  ])('%s', async (_, signals, code) => {
    const { stops, endStop, needsRestart } = await started();
    await needsRestart();
    expect([stops(), exits]).toEqual([1, []]);
    signals.forEach(give);
    await endStop();
    expect([stops(), exits[0]]).toEqual([1, code]);
  });
  it('that cannot stop cleanly ends with 1', async () => {
    const { endStop } = await started();
    give('SIGTERM');
    await endStop(new Error('hangs'));
    expect(exits).toEqual([1]);
  });
  it('that cannot start ends with 1, and listens to no signal', async () => {
    await runProgram({
      ...{ name: 'The program', usage: '', telemetryName: 'program', readSettings: () => quiet },
      start: () => Promise.reject(new Error('the port is taken')),
    });
    expect([exits, handlers.has('SIGTERM'), handlers.has('SIGINT')]).toEqual([[1], false, false]);
  });
  it.each(['uncaughtException', 'unhandledRejection'])('ends with 1 at an %s', async (name) => {
    await started();
    handlers.get(name)?.(new Error('unforeseen'));
    expect(exits).toEqual([1]);
  });
  it('with wrong settings says each of them, and ends with 1', async () => {
    const reading = runProgram<typeof settings>({
      ...{ name: 'The program', usage: '', telemetryName: 'program', start: async () => ({ stop: async () => {} }) },
      readSettings() {
        throw new ConfigurationError(['HTTP_PORT is 0', 'LOG_LEVEL is loud']);
      },
    });
    await reading.catch(() => {}); // its process would have ended
    expect(exits[0]).toBe(1);
    expect(written).toContain('The program cannot start');
    expect(written).toContain('  - HTTP_PORT is 0\n  - LOG_LEVEL is loud\n');
  });
  it('has another name in each process that starts', async () => {
    const names: string[] = [];
    for (let index = 0; index < 2; index += 1) {
      await runProgram({
        ...{ name: 'The program', usage: '', telemetryName: 'program', readSettings: () => quiet },
        async start(_settings, _log, instance) {
          names.push(instance);
          return { stop: async () => {} };
        },
      });
    }
    expect(new Set(names).size).toBe(2);
  });
});
