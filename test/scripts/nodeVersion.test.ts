import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { importsOf } from '../support/imports.ts';

/** Runs a program as if Node had another version. */
function runWith(version: string, ...program: readonly string[]) {
  const versions = `{ value: { ...process.versions, node: '${version}' } }`;
  const pretend = `data:text/javascript,${encodeURIComponent(`Object.defineProperty(process, 'versions', ${versions})`)}`;
  const args = ['--import', pretend, ...program];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env: {} });
  return { status, stdout, stderr };
}

const refused = (version: string) => ({
  status: 1,
  stdout: '',
  stderr: `This program needs Node 20.19 or newer, this is ${version}.\n`,
});

describe('an old Node.js is refused with one sentence by', () => {
  it.each([
    ...['main', 'methods', 'deadLetters', 'admin', 'tap', 'backends', 'envFile'].map((name) => [`dist/${name}.js`]),
    ['edge/dist/main.js'],
    ['iot-hub-emulator/bin/iot-hub-emulator.js'],
    ...['sandbox/main.ts', 'sandbox/device/main.ts', 'iot-hub-emulator/src/command/main.ts'].map((file) => [
      'scripts/run.js',
      file,
    ]),
  ])('%s %s', (...program) =>
    expect(runWith('18.20.4', ...program.filter((word) => word !== undefined))).toEqual(refused('18.20.4')),
  );
  it('npm run build, and so by all commands that build first', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(scripts.build).toMatch(/^node scripts\/run\/nodeVersion\.js && /);
    const ofBuild = /dist\/|test\/browser|--project=programs/;
    const using = Object.keys(scripts).filter((name) => ofBuild.test(scripts[name]));
    expect(using).toEqual(expect.arrayContaining(['start', 'methods', 'program-tests', 'browser-tests']));
    for (const name of using)
      expect(scripts[`pre${name}`] ?? scripts[name]).toMatch(/^node scripts\/run\.js scripts\/buildIfOlder\.ts/);
  });
});

it.each(['20.18.3', '20.0.0', '19.9.0', '14.21.3'])('Node %s is too old', (version) =>
  expect(runWith(version, 'scripts/run/nodeVersion.js')).toEqual(refused(version)),
);
it.each(['20.19.0', '20.20.2', '21.0.0', '22.1.0', '100.0.0'])('Node %s is new enough', (version) =>
  expect(runWith(version, 'scripts/run/nodeVersion.js')).toEqual({ status: 0, stdout: '', stderr: '' }),
);
it.each(['package.json', 'edge/package.json', 'iot-hub-emulator/package.json'])(
  '%s requires the same version',
  (file) => expect(JSON.parse(readFileSync(file, 'utf8')).engines.node).toBe('>=20.19'),
);
it('the launcher imports nothing on which an old Node.js fails before the check', () => {
  expect(importsOf('scripts/run.js')).toEqual(['scripts/run/nodeVersion.js', 'scripts/run/launch.js']);
  expect(readFileSync('scripts/run.js', 'utf8')).toMatch(/^import '.*nodeVersion.*';\n\nawait import\(/m);
});
