import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { catalogue } from '../src/messages/index.ts';
import { fileCycles, filesBelow, folderCycles, importsOf } from './support/imports.ts';

/** What the code base looks like, held as rules. */

const imports = filesBelow('src').flatMap((file) => importsOf(file).map((target) => ({ file, target })));
const offenders = (isOffence: (file: string, target: string) => boolean) =>
  imports.filter(({ file, target }) => isOffence(file, target)).map(({ file, target }) => `${file} imports ${target}`);

const importsBelow = (root: string) => filesBelow(root).flatMap(importsOf);

/** The rooms of the service by floors (D240), the lowest first: a file imports from its own room and from lower floors, types included. */
const floors = [
  ['concurrency', 'protocol'],
  ['settings', 'observing'],
  ['access', 'engine'],
  ['stores', 'backends', 'admin'],
  ['card', 'objectModel', 'hub'],
  ['messages', 'methods'],
  ['dispatch'],
  ['operations'],
  ['programs'],
];
const roomOf = (file: string): string => file.split('/')[1] ?? '';
const floorOf = (file: string): number => floors.findIndex((rooms) => rooms.includes(roomOf(file)));
/** What each room imports from others. */
const arrows = floors.flatMap((rooms, index) =>
  rooms.map((room) => {
    const targets = imports
      .filter(({ file }) => roomOf(file) === room && file.startsWith('src/'))
      .map(({ target }) => target);
    const others = targets.filter((target) => target.startsWith('src/') && roomOf(target) !== room).map(roomOf);
    return [index + 1, room, [...new Set(others)].sort().join(', ') || 'no other'] as const;
  }),
);

describe('every card', () => {
  it('is in the catalogue, and has a file of its name {S1.7 S22.1}', () => {
    const names = readdirSync('src/messages', { recursive: true, encoding: 'utf8' })
      .map((file) => /(?:^|\/)(\w+(?:\.\w+)+)\.ts$/.exec(file)?.[1])
      .filter((name) => name !== undefined);
    expect(catalogue.map(({ name }) => name).sort()).toEqual(names.sort());
  });

  it.each(catalogue)('$name has a table', ({ name, generation }) => {
    const folder = generation === 'V1' ? 'test/messages/v1' : 'test/messages';
    expect(existsSync(join(folder, `${name}.test.ts`))).toBe(true);
  });
});

// D240
describe('floors', () => {
  it('have a place for each file', () => expect(filesBelow('src').filter((file) => floorOf(file) < 0)).toEqual([]));

  it.each(arrows)('%i: %s imports from %s', (_, room) => {
    const isOffence = (file: string, target: string) =>
      target.startsWith('src/') && roomOf(file) === room && roomOf(target) !== room && floorOf(target) >= floorOf(file);
    expect(offenders(isOffence)).toEqual([]);
  });

  it('are drawn in docs/maintainers/decisions.md', () => {
    const picture = floors.map((rooms) => rooms.join('   ')).join('\n');
    expect(readFileSync('docs/maintainers/decisions.md', 'utf8')).toContain(`\n${picture}\n`);
  });
});

describe('imports', () => {
  it('of the service begin with V8’s flags, which must be set before the SDKs are loaded', () => {
    const [rest, ...parts] = importsOf('src/programs/main.ts').toReversed();
    expect([rest, parts.filter((part) => !part.startsWith('node:'))]).toEqual(['src/programs/serviceProgram.ts', []]);
    expect(readFileSync('src/programs/main.ts', 'utf8').match(/^import /gm)).toHaveLength(parts.length); // the rest is not static
  });

  it('of the declared metrics of messages are in the room that records them: others take vocabularies from the protocol', () => {
    const isOffence = (file: string, target: string) =>
      target === 'src/observing/messageMetrics.ts' && !file.startsWith('src/observing/');
    expect(offenders(isOffence)).toEqual([]);
  });

  it('of the engine include no packages but telemetry: it is independent of the hub', () => {
    const isOwn = (target: string) => /^(src\/|@device-messaging\/telemetry\/|node:)/.test(target);
    expect(offenders((file, target) => file.startsWith('src/engine/') && !isOwn(target))).toEqual([]);
  });

  it('of the hub’s SDKs are in src/hub only, except the storage client', () => {
    const isAllowed = (file: string, target: string) =>
      file.startsWith('src/hub/') ||
      (file.startsWith('src/stores/') && target === '@azure/storage-blob') ||
      (file.startsWith('src/access/') && target === '@azure/identity');
    expect(
      offenders((file, target) => /^(@azure\/|azure-iothub|rhea)/.test(target) && !isAllowed(file, target)),
    ).toEqual([]);
  });

  it('of the identity library are in one file, which is loaded only when an identity is wanted', () => {
    const isUse = (file: string, target: string) => target === '@azure/identity' && file !== 'src/access/identity.ts';
    expect(offenders(isUse)).toEqual(['src/access/platform.ts imports @azure/identity']);
    expect(readFileSync('src/access/identity.ts', 'utf8')).not.toMatch(/^import (?!type ).*@azure\/identity/m);
    expect(offenders((_, target) => target === 'src/access/platform.ts')).toHaveLength(1);
  });

  it('of the HTTP client are in src/backends only, except for methods of the hub and what makes connections', () => {
    const isAllowed = (file: string) =>
      /^src\/(backends|access)\//.test(file) || file === 'src/hub/methods/directMethods.ts';
    expect(offenders((file, target) => /^(axios|undici)/.test(target) && !isAllowed(file))).toEqual([]);
  });

  it('of the trace libraries are in one file, which is loaded only when traces are enabled', () => {
    const libraries = /^@opentelemetry\/(sdk-trace-base|exporter-trace-otlp-http)$/;
    const loading = offenders((file, target) => libraries.test(target) && !file.startsWith('src/observing/'));
    expect(loading).toEqual([]);
    expect(offenders((_, target) => target === 'src/observing/recording.ts')).toHaveLength(1);
  });

  it.each([
    ['the service', 'src', /^(sandbox|iot-hub-emulator|test|scripts|edge)(\/|$)/],
    ['the sandbox, which spells the wire by hand,', 'sandbox', /^(src|edge)\//],
  ])('of %s do not include others', (_, root, others) =>
    expect(importsBelow(root).filter((target) => others.test(target))).toEqual([]),
  );

  it.each([
    ['the hub emulator, which also serves other projects,', 'iot-hub-emulator/src', /^iot-hub-emulator\/src\//],
    ['the kit for backends, which spells the contract by hand,', 'backend-kit', /^backend-kit\//],
    ['the edge proxy, which is deployed alone,', 'edge/src', /^(edge\/src|@device-messaging\/telemetry)\//],
    ['telemetry, which serves service, front door and edge proxy,', 'telemetry/src', /^telemetry\/src\//],
    ['the page', 'page/src', /^(page\/src|preact)(\/|$)/],
  ])('of %s are its own files and the packages that it declares', (_, root, own) => {
    const manifest = join(root.replace(/\/src$/, ''), 'package.json');
    const { dependencies = {} } = existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')) : {};
    const isOwn = (target: string) =>
      own.test(target) || Object.hasOwn(dependencies, target) || (root !== 'page/src' && target.startsWith('node:'));
    expect(importsBelow(root).filter((target) => !isOwn(target))).toEqual([]);
  });

  it('of the independent model do not include the service, also not indirectly: it is written from the specification', () => {
    const reached = new Set<string>();
    const visit = (file: string) => {
      if (reached.has(file)) return;
      reached.add(file);
      if (file.endsWith('.ts') && existsSync(file)) importsOf(file).forEach(visit);
    };
    filesBelow('test/independent').forEach(visit);
    expect([...reached].filter((file) => file.startsWith('src/'))).toEqual([]);
    expect(
      importsBelow('test/independent/model').filter((file) => !/^(node:|test\/independent\/model\/)/.test(file)),
    ).toEqual([]);
  });

  const emulator = JSON.parse(readFileSync('iot-hub-emulator/package.json', 'utf8'));

  it('of the hub emulator’s tests are its own files, except for ending the processes that tests start', () => {
    const reaching = importsBelow('iot-hub-emulator/test').filter(
      (target) => target.endsWith('.ts') && !target.startsWith('iot-hub-emulator/'),
    );
    expect([...new Set(reaching)]).toEqual(['sandbox/service/endWithUs.ts']);
  });

  it('of the hub emulator by others are its exports, by its name; tests, and what tries the images, may use its test support', () => {
    const users = ['sandbox', 'scripts', 'test'].flatMap(filesBelow);
    const imported = users.flatMap((file) => importsOf(file).map((target) => ({ file, target })));
    const isExport = (target: string) => Object.hasOwn(emulator.exports, target.replace('iot-hub-emulator', '.'));
    const isAllowed = (file: string, target: string) =>
      isExport(target) ||
      (/^(test|scripts\/image)\//.test(file) && target.startsWith('iot-hub-emulator/test/support/'));
    const ofEmulator = imported.filter(({ target }) => /^iot-hub-emulator(\/|$)/.test(target));
    expect(ofEmulator.filter(({ file, target }) => !isAllowed(file, target))).toEqual([]);
    const targets = [...ofEmulator.map(({ target }) => target), ...importsBelow('iot-hub-emulator/test')];
    const used = new Set(targets.map((target) => target.replace('iot-hub-emulator', '.')));
    expect(Object.keys(emulator.exports).filter((name) => !used.has(name))).toEqual([]);
  });

  it('of the sandbox’s backends stay inside them, except HTTP, the journal and folders: they use neither hub nor front door', () => {
    const isOutside = (target: string) => /^(sandbox|iot-hub-emulator)(\/|$)/.test(target);
    const isAllowed = (target: string) =>
      /^(sandbox\/backends\/|iot-hub-emulator\/(http|journal|directory)$)/.test(target);
    const reaching = importsBelow('sandbox/backends').filter((target) => isOutside(target) && !isAllowed(target));
    expect(reaching).toEqual([]);
  });

  it.each([
    ['the check of the version', 'scripts/run/nodeVersion.js', 'iot-hub-emulator/bin/nodeVersion.js'],
    ['the licence', 'LICENSE', 'iot-hub-emulator/LICENSE'],
    ['the check of AMQP bytes', 'src/hub/decodable.ts', 'iot-hub-emulator/src/events/decodable.ts'],
  ])('of separate deployables have an equal copy of %s, so that a fix in one is a fix in both', (_, original, copy) =>
    expect(readFileSync(copy, 'utf8')).toBe(readFileSync(original, 'utf8')),
  );

  it('of the page by others are only what serves it', () => {
    const targets = ['src', 'sandbox', 'scripts'].flatMap(importsBelow);
    const entering = targets.filter((target) => target.startsWith('page/'));
    expect([...new Set(entering)]).toEqual(['page/server/pageFiles.ts']);
  });
});

describe('the system clock', () => {
  /** Files that ask for the time of day, and why (D180). */
  const reasons = {
    'operations/openers.ts': 'compares it with the clocks of others, deletes what an interrupted trial has left',
    'operations/probes.ts': 'shows how old the newest event is',
    'concurrency/clocks.ts':
      'turns a point in time of the process into a time of day, and back; compares it with the clock that can’t be set',
    'hub/reading/leases.ts': 'writes times for other instances, and reads theirs',
    'stores/labelledBlobs.ts': 'compares it with the clock of the storage',
    'hub/reading/foundEndpoint.ts': 'tells the hub when a signature expires',
    'hub/methods/directMethods.ts': 'tells the hub when a signature expires',
    'stores/methodFiles.ts': 'tells the storage when a signature expires',
    'stores/open.ts': 'compares it with the times of dead letters, which outlive the process',
    'stores/letterFiles.ts': 'compares it with the times of files',
    'engine/progressTracker.ts': 'compares it with when the hub received a message',
    'backends/retryPolicy.ts': 'reads a date in Retry-After',
    'observing/diagnosis.ts': 'compares it with the time in a refusal',
    'programs/handling.ts': 'stamps acknowledgements',
    'observing/metrics.ts': 'tells collectors since when is counted',
    'observing/otlpMetrics.ts': 'tells collectors when a figure was read',
    'admin/tapRoute.ts': 'shows when a tap began',
    'observing/taps.ts': 'shows when something happened',
  };

  it('is used only for times of day: durations and deadlines come from the monotonic clock', () => {
    const asking = filesBelow('src').filter((file) => /Date\.now|new Date\(\)/.test(readFileSync(file, 'utf8')));
    expect(asking.map((file) => file.slice('src/'.length)).sort()).toEqual(Object.keys(reasons).sort());
  });

  it('is used neither in the edge proxy nor in the code that it shares with the service', () => {
    const asking = [...filesBelow('edge/src'), ...filesBelow('telemetry/src')].filter((file) =>
      /Date\.now|new Date\(\)/.test(readFileSync(file, 'utf8')),
    );
    expect(asking).toEqual([]);
  });
});

// D342
describe('file names', () => {
  it.each<[root: string, exceptions: string, isException: RegExp]>([
    ...['src', 'telemetry/src', 'edge/src'].map((root): [string, string, RegExp] => [root, 'none', /^$/]),
    ['iot-hub-emulator/src', 'its exports, which have the names of the exported files', /\/exports\//],
    ['sandbox', 'the entry points of its commands', /\/main\.ts$/],
  ])('occur once in %s: one name, one thing; exceptions: %s', (root, _, isException) =>
    expect(repeatedNames(filesBelow(root).filter((file) => !isException.test(file)))).toEqual([]),
  );
  it('that occur twice are reported with their folders', () =>
    expect(repeatedNames(['src/a/open.ts', 'src/b/close.ts', 'src/b/c/open.ts'])).toEqual([
      'src/a/open.ts, src/b/c/open.ts',
    ]));

  /** The files that share a name. */
  function repeatedNames(files: readonly string[]): string[] {
    const names = new Set(files.map((file) => basename(file)));
    return [...names]
      .map((name) => files.filter((file) => basename(file) === name))
      .filter(({ length }) => length > 1)
      .map((some) => some.join(', '));
  }
});

describe('folders', () => {
  it.each(['src', 'edge/src', 'iot-hub-emulator/src', 'sandbox'])(
    'of %s do not import each other in a cycle, nor do their files',
    (root) => expect([folderCycles(root), fileCycles(root)]).toEqual([[], []]),
  );

  it('that import only each other’s types form a cycle, too', () => {
    const root = mkdtempSync(join(tmpdir(), 'cycle-'));
    try {
      for (const folder of ['a', 'b']) mkdirSync(join(root, folder));
      writeFileSync(join(root, 'main.ts'), "import { x } from './a/x.ts';");
      writeFileSync(join(root, 'a/x.ts'), "import type { Y } from '../b/y.ts';");
      expect(folderCycles(root)).toEqual([]);
      writeFileSync(join(root, 'b/y.ts'), "import type { X } from '../a/x.ts';");
      expect(folderCycles(root)).toEqual([`${root}/a → ${root}/b → ${root}/a`]);
      expect(fileCycles(root)).toEqual([`${root}/a/x.ts → ${root}/b/y.ts → ${root}/a/x.ts`]);
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});
