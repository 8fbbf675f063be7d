import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { execFile } from '../../sandbox/service/endWithUs.ts';
import { inherited, serviceCommand } from '../../sandbox/service/process.ts';
import { projectDirectory } from '../../sandbox/state/directories.ts';
import { absentHubAndBackends } from './absentHub.ts';

/** Of what is built, alone: without sources and packages around it. */
const directory = folderForAll('built');
beforeAll(() => {
  for (const name of ['dist', 'config', 'package.json'])
    cpSync(join(projectDirectory, name), join(directory, name), { recursive: true });
});

type Result = Readonly<{ code: unknown; stdout: string; stderr: string }>;

const run = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
  new Promise<Result>((resolve) => {
    const options = { cwd: directory, env: { ...inherited(), ...environment } };
    execFile(process.execPath, args, options, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });

/** Paths below `dist`, and their text. */
const filesIn = (folder: string): (readonly [file: string, text: string])[] =>
  readdirSync(join(projectDirectory, 'dist', folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.js'))
    .map((file) => [join(folder, file), readFileSync(join(projectDirectory, 'dist', folder, file), 'utf8')]);

describe('a built program contains its packages:', () => {
  it.each(['main', 'methods'])('%s', async (name) => {
    const { code, stderr } = await run([`dist/${name}.js`]);
    expect(code).toBe(1);
    expect(stderr).toContain('cannot start with these settings:\n  - INFORMATION_MODEL_URL');
  });
  it.each(['deadLetters', 'admin', 'tap'])('%s', async (name) => {
    const { code, stdout } = await run([`dist/${name}.js`, '--help']);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Usage: /)]);
  });
  it('also those that only some settings load', async () => {
    const files = filesIn('packages').map(([file]) => file);
    writeFileSync(join(directory, 'all.cjs'), `${JSON.stringify(files)}.forEach(require('./dist/load.js').load);`);
    expect(await run(['all.cjs'])).toEqual({ code: 0, stdout: '', stderr: '' });
  });
  it('and begins with no part that only some settings need', async () => {
    const last = "process.once('exit', () => console.log(JSON.stringify(require('./dist/load.js').loaded())))";
    writeFileSync(join(directory, 'loaded.cjs'), `${last};\nrequire('./dist/main.js');`);
    const { stdout } = await run(['loaded.cjs']);
    const loaded: string[] = JSON.parse(stdout);
    expect(loaded).toEqual(expect.arrayContaining(['packages/undici.js', 'packages/rhea.js']));
    const ofSome = /\/(axios|form-data|fastify|identity|msal-\w+|storage-\w+|otlp-\S+|exporter-\S+)\.js$/;
    expect(loaded.filter((path) => ofSome.test(path))).toEqual([]);
  });
});

describe('what V8 made of a program during the build', () => {
  /** Whether V8 takes it, for each part that a start loads, without those from before the flags that `src/programs/main.ts` sets. */
  async function taken(program: string, flags: readonly string[]) {
    const look = `const vm = require('node:vm');
const taken = new Set();
vm.Script = class extends vm.Script {
  constructor(code, options) {
    super(code, options);
    if (!/programs.(main|rolldown-runtime)\\.js$/.test(options.filename)) taken.add(!this.cachedDataRejected);
  }
};
process.once('exit', () => console.log(JSON.stringify([...taken])));
require('./${program}');`;
    writeFileSync(join(directory, 'look.cjs'), look);
    const { code, stdout, stderr } = await run([...flags, 'look.cjs']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('cannot start with these settings')]);
    return JSON.parse(stdout);
  }
  const commands = [[...serviceCommand.slice(1, -1), 'dist/main.js'], ['dist/methods.js']];
  it.each(commands)('is what a start uses: %s %s', async (...words) =>
    expect(await taken(words.at(-1) ?? '', words.slice(0, -1))).toEqual([true]),
  );
  it('is passed over with other flags', async () =>
    expect(await taken('dist/main.js', ['--max-semi-space-size=16'])).toEqual([false]));
});

describe('packages that are built', () => {
  it('have each file once, so that the service’s corrections apply to every use', () => {
    const sources = filesIn('').flatMap(([, text]) => text.match(/^\/\/ \S*node_modules\/\S+\.[cm]?js$/gm) ?? []);
    expect(sources).toContainEqual(expect.stringMatching(/\/azure-iothub\/node_modules\/rhea\/lib\/util\.js$/));
    expect(sources).toEqual([...new Set(sources)]);
  });
  it('are in files of their own', () => {
    const ours = filesIn('programs').filter(([, text]) => /^\/\/ (?!\S*node_modules\/)src\//m.test(text));
    expect(ours.map(([file]) => file)).toContain('programs/main.js');
    expect(ours.filter(([, text]) => /^\/\/ \S*node_modules\//m.test(text))).toEqual([]);
  });
  it('of the hub have classes with their original names, which distinguish failures', () => {
    const ofHub = filesIn('packages').filter(([file]) => /\/(azure-|event-hubs|core-amqp|rhea)/.test(file));
    const text = ofHub.map(([, code]) => code).join('\n');
    const named = [...text.matchAll(/\b(\w+) = class (?!extends\b)([\w$]+)/g)].map(([, name, own]) => [name, own]);
    expect(named).toContainEqual(['NotConnectedError', 'NotConnectedError']);
    expect(named.filter(([name, own]) => name !== own)).toEqual([]);
    expect(text.match(/\bclass \w+\$\d/g)).toBeNull();
  });
});

it('an error in the log has the file and line of the source', async () => {
  const checkpoints = join(directory, 'data/checkpoints');
  mkdirSync(checkpoints, { recursive: true });
  writeFileSync(join(checkpoints, `${encodeURIComponent('127.0.0.1:1 h $Default')}.json`), '{}');
  const environment = { ...absentHubAndBackends, DATA_DIRECTORY: join(directory, 'data') };
  const { code, stdout } = await run(['dist/main.js'], environment);
  const last = stdout.trimEnd().split('\n').at(-1) ?? '';
  expect([code, JSON.parse(last).event]).toEqual([1, 'program.not_started']);
  const frame = /\/(src\/stores\/fileCheckpoints\.ts):(\d+)/.exec(JSON.parse(last).err.stack);
  expect(frame?.[1]).toBe('src/stores/fileCheckpoints.ts');
  const line = readFileSync(join(projectDirectory, frame?.[1] ?? ''), 'utf8').split('\n')[Number(frame?.[2]) - 1];
  expect(line).toContain('new Error(');
});
