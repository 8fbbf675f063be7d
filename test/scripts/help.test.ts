import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

/** Every command of operators, developers and devices. */
const commands = [
  ...['main', 'methods', 'deadLetters', 'admin', 'tap', 'check', 'backends'].map((name) => [`dist/${name}.js`]),
  ['edge/dist/main.js'],
  ...[
    ...[
      'sandbox/main.ts',
      'sandbox/adapter/main.ts',
      'sandbox/device/main.ts',
      'sandbox/invoke/main.ts',
      'iot-hub-emulator/src/command/main.ts',
    ],
    ...[
      'test/chaos/main.ts',
      'test/costSearch/main.ts',
      'test/scale/main.ts',
      'scripts/record.ts',
      'scripts/prove.ts',
      'scripts/acceptance.ts',
    ],
  ].map((file) => ['scripts/run.js', file]),
];

const run = (args: readonly string[]) => spawnSync(process.execPath, args, { encoding: 'utf8', env: {} });

describe.each(commands)('%s %s', (...command) => {
  const program = command.filter((word) => word !== undefined);

  it('describes itself with --help, within 80 columns, and ends with 0', () => {
    const { status, stdout, stderr } = run([...program, '--help']);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/Usage: |npm run /);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });
  it('refuses an unknown argument with a sentence', () => {
    const { status, stdout, stderr } = run([...program, '--no-such-option']);
    expect([status === 0, stdout]).toEqual([false, '']);
    expect(stderr).toContain('--no-such-option');
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

it.each([
  ['dist/main.js', 'The service'],
  ['dist/methods.js', 'The front door'],
])('%s takes no arguments', (program, name) => {
  const { status, stdout, stderr } = run([program, '8080']);
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toBe(
    `${name} takes no argument but --help, not "8080": its settings come from the environment (docs/settings.md).\n`,
  );
});
