import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { reaching } from './test/support/imports.ts';
import { removePersonal } from './test/support/personal.ts';
import { firstSeed, seedVariable } from './test/support/seed.ts';

/** Files of one of these share a process with the others of it. What the service cures in the hub's SDKs, the sandbox's tests have not. */
const rooms = {
  service: ['test/hub/', 'test/methods/', 'test/operations/'],
  sandbox: ['test/edge/', 'test/sandbox/', 'iot-hub-emulator/test/'],
};

/** Tests that start programs, databases, or all of the reference backends, again and again: `npm run program-tests` (D429). */
const programs = [
  ...['test/e2e/', 'test/scripts/', 'test/deploy/', 'test/scale/'],
  ...[
    'test/edge/process',
    'test/methods/process',
    'iot-hub-emulator/test/package',
    'test/mutants/trial',
    'test/backendKit/adapter',
    'test/backendKit/faults',
  ].map((file) => `${file}.test.ts`),
];

/** Tests of the hub's clients as they are, without the cures of the service. */
const ofClients = 'test/traps/';

const files = ['test', 'iot-hub-emulator/test'].flatMap((folder) =>
  readdirSync(join(import.meta.dirname, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join(folder, file)),
);
const fullPath = (file: string) => join(import.meta.dirname, file);

const replacedIn = new Map(
  files.map((file) => {
    const text = readFileSync(fullPath(file), 'utf8');
    return [file, [...text.matchAll(/\bvi\.(?:do)?mock\('([^']+)'/gi)].map(([, name]) => name)] as const;
  }),
);
const replacing = (isMeant: (name?: string) => boolean) =>
  files.filter((file) => replacedIn.get(file)?.length && replacedIn.get(file)?.every(isMeant));

/** Tests that put the same in the place of the hub's client share a process of their own. */
const withStandIns = replacing((name) => name === '@azure/event-hubs');

/** Tests that put something else in the place of a module: others would be given it as well. */
const replacingModules = replacing(() => true).filter((file) => !withStandIns.includes(file));

/** Tests with this client, which may still fail in the background when they are over. */
const withLateFailures = reaching(files.map(fullPath), 'azure-iot-device-amqp').map((file) =>
  relative(import.meta.dirname, file),
);

/** Tests that leave requests hanging, in the connections that a client keeps for all of a process. */
const withHangingRequests = 'test/hub/crashBlobStore.test.ts';

const isolated: readonly string[] = [ofClients, ...replacingModules, ...withLateFailures, withHangingRequests];

const isIn = (file: string, places: readonly string[]) => places.some((place) => file.startsWith(place));

/** The project that a file of tests belongs to: those of one share a process, except the isolated ones. */
export function projectOf(file: string): string {
  if (isIn(file, isolated)) return 'isolated';
  if (withStandIns.includes(file)) return 'stand-ins';
  if (isIn(file, programs)) return 'programs';
  return Object.entries(rooms).find(([, folders]) => isIn(file, folders))?.[0] ?? 'shared';
}

/** Begun last, one of these would be left to run alone. In a fresh clone the runner knows only the sizes of files. */
const long = new RegExp(
  [
    'test/(backendKit|traps|independent|idle|facts|command/|dispatch/traces|engine/flood|methods/(load|invoke))',
    'test/hub/(crash|workarounds|wrongSettings|startPosition)|test/stores/wrongStore',
    'test/e2e/(commands|operator|quarantine|rotation|identity)|test/scripts/newMessage',
  ].join('|'),
);

class LongestFirst extends BaseSequencer {
  /** Those of a project one after the other: a process is shared only by files that follow each other. */
  override async sort(files: TestSpecification[]) {
    const sorted = await super.sort(files);
    const rank = ({ project, moduleId }: TestSpecification) =>
      2 * ['programs', 'isolated', 'stand-ins', 'shared', 'service', 'sandbox'].indexOf(project.name) +
      (long.test(moduleId) ? 0 : 1);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

removePersonal(process.env);

/** A worker that goes on when its runner was killed would keep ports and processes. */
const endWithRunner = "data:text/javascript,process.once('disconnect',()=>process.kill(process.pid,'SIGKILL'))";

/** Has the hub emulator come from its sources, as the compiler and scripts/run.js have it, too (H15); the rest is what is usual. */
export const fromSources = {
  ssr: { resolve: { conditions: ['iot-hub-emulator-source', 'node', 'development|production'] } },
};

/** For `npm run mutants`, too. */
export const common = {
  // Generous: a busy machine is slow, and what hangs is ended all the same.
  testTimeout: 480_000,
  hookTimeout: 480_000,
  pool: 'forks' as const,
  execArgv: ['--import', endWithRunner],
  env: { [seedVariable]: String(firstSeed()) },
  setupFiles: [fullPath('test/support/setup.ts')],
  // What is waited for comes at once, or on a busy machine late.
  expect: { poll: { timeout: 120_000, interval: 25 } },
};

/** Most of these wait for processes of their own: fewer files at a time would leave a small machine idle. */
const waiting = { maxWorkers: Math.max(6, availableParallelism()), sequence: { groupOrder: 0 } };

/** These come after them. Each worker loads nearly all modules; with three, a small machine is idle for a quarter of the time. */
const computing = { maxWorkers: Math.max(5, availableParallelism()), sequence: { groupOrder: 1 } };

export default defineConfig({
  ...fromSources,
  test: {
    ...common,
    sequence: { sequencer: LongestFirst },
    // Each project would transform the same modules again.
    experimental: { fsModuleCache: true },
    // Loading modules again for each file costs as much CPU as most tests themselves.
    projects: [...new Set(files.map(projectOf))].map((name) => ({
      extends: true as const,
      test: {
        name,
        include: files.filter((file) => projectOf(file) === name),
        isolate: name === 'isolated',
        ...(name === 'programs' || name === 'isolated' ? waiting : computing),
      },
    })),
  },
});
