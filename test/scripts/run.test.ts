import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';

/** A small project with the launcher. */
const project = folderForEach('run');
beforeEach(() => {
  for (const name of ['scripts/run.js', 'scripts/run', 'package.json'])
    cpSync(name, join(project, name), { recursive: true });
  symlinkSync(resolve('node_modules'), join(project, 'node_modules'));
});

function write(file: string, text: string): void {
  mkdirSync(join(project, file, '..'), { recursive: true });
  writeFileSync(join(project, file), text);
}

/** What a program prints that is started from another folder. */
function run(directory: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(directory, 'scripts/run.js'), ...args], {
    cwd: tmpdir(),
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('node scripts/run.js', () => {
  it('runs a program with its imports, arguments and exit code', () => {
    write('lib/double.ts', 'export const double = (text: string): string => text + text;');
    write(
      'app/main.ts',
      `import { LRUCache } from 'lru-cache';
      import { double } from '../lib/double.ts';
      const { triple } = await import('../lib/triple.ts');
      console.log(typeof LRUCache, double(process.argv[2] ?? ''), triple(process.argv[3] ?? ''), process.argv.length);
      process.exitCode = 3;`,
    );
    write('lib/triple.ts', 'export const triple = (text: string): string => text + text + text;');
    const program = join(project, 'app/main.ts');
    expect(run(project, program, 'a', '-b')).toEqual({ status: 3, stdout: 'function aa -b-b-b 4\n', stderr: '' });
    expect(run(project, program, 'c', 'd')).toEqual({ status: 3, stdout: 'function cc ddd 4\n', stderr: '' });
  });
  it('treats a workspace as own code, by its exports', () => {
    const exports = { './words': './src/words.ts' };
    write('package.json', JSON.stringify({ type: 'module', workspaces: ['lib', 'missing'] }));
    write('lib/package.json', JSON.stringify({ name: 'own-lib', type: 'module', exports }));
    write('lib/src/words.ts', 'export const place: string = import.meta.filename;');
    write(
      'app/main.ts',
      "import { LRUCache } from 'lru-cache'; import { place } from 'own-lib/words'; console.log(typeof LRUCache, place);",
    );
    rmSync(join(project, 'node_modules'));
    mkdirSync(join(project, 'node_modules'));
    for (const name of ['rolldown', 'lru-cache'])
      symlinkSync(resolve('node_modules', name), join(project, 'node_modules', name));
    symlinkSync('../lib', join(project, 'node_modules/own-lib'));
    const { status, stdout, stderr } = run(project, join(project, 'app/main.ts'));
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: `function ${join(project, 'lib/src/words.ts')}\n`,
      stderr: '',
    });
  });
  it('runs the current sources', () => {
    const program = join(project, 'app/main.ts');
    write('lib/word.ts', "export const word = 'before';");
    write('app/main.ts', "import { word } from '../lib/word.ts'; console.log(word);");
    expect(run(project, program).stdout).toBe('before\n');
    write('lib/word.ts', "export const word = 'after';");
    expect(run(project, program).stdout).toBe('after\n');
    write('app/main.ts', "console.log('alone');");
    rmSync(join(project, 'lib'), { recursive: true });
    expect(run(project, program).stdout).toBe('alone\n');
  });
  it('bundles only changed sources', () => {
    const program = join(project, 'app/main.ts');
    write('app/main.ts', 'console.log(1);');
    run(project, program);
    rmSync(join(project, 'node_modules')); // and the bundler with it
    expect(run(project, program)).toEqual({ status: 0, stdout: '1\n', stderr: '' });
  });
  it('does not use the sources of the checkout that it was copied from', () => {
    write('app/main.ts', 'console.log(import.meta.dirname);');
    run(project, join(project, 'app/main.ts'));
    const copy = join(project, 'copy');
    for (const name of readdirSync(project))
      cpSync(join(project, name), join(copy, name), { recursive: true, preserveTimestamps: true });
    expect(run(copy, join(copy, 'app/main.ts')).stdout).toBe(`${join(copy, 'app')}\n`);
  });
  it('names file and line of the source in the stack of an error', () => {
    write('app/main.ts', "type Text = string;\n\nconst text: Text = 'as planned';\nthrow new Error(text);\n");
    const { status, stderr } = run(project, join(project, 'app/main.ts'));
    expect(status).toBe(1);
    expect(stderr).toContain(`${join(project, 'app/main.ts')}:4:7`);
  });
  it.each([
    ['has an error of syntax', 'const = 1;', /app\/main\.ts/],
    ['imports a file that is not there', "import './missing.ts';", /missing\.ts/],
  ])('reports the error of a program that %s', (_, text, words) => {
    write('app/main.ts', text);
    const { status, stdout, stderr } = run(project, join(project, 'app/main.ts'));
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/node:internal|node_modules/);
  });
  it.each([[[]], [['nothing.ts']], [[tmpdir()]]])('prints its usage for %j', (args) => {
    const { status, stderr } = run(project, ...args);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^node scripts\/run\.js FILE/)]);
  });
});
