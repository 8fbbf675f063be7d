import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { spawn } from '../../sandbox/service/endWithUs.ts';

/** A copy of the checkout, without what is ignored. */
const copy = folderForAll('new-message');
beforeAll(() => {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  });
  for (const file of listed.split('\0').filter((file) => file !== '' && existsSync(file)))
    cpSync(file, join(copy, file));
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
});

const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(VITEST|npm_)/.test(name)));

async function run(program: string, ...args: string[]) {
  const child = spawn(program, args, { cwd: copy, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const [[status], stdout, stderr] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
  return { status, said: `${stdout}${stderr}` };
}
const newMessage = (...args: string[]) => run(process.execPath, 'scripts/run.js', 'scripts/newMessage.ts', ...args);

/** Besides the end-to-end tests, these are all that go by the catalogue, the stories or the pages. */
const concerned = [
  'test/shape.test.ts',
  'test/dispatch/recognition.test.ts',
  'test/dispatch/dispatch.test.ts',
  'test/docs/',
  'test/messages/model.archive.test.ts',
];
/** It puts other modules in the place of those that files beside it may have loaded. */
const alone = 'test/observing/everyMetric.test.ts';

/** What is marked in a page, and what a person makes of it. */
const decisions = [
  [
    'docs/devices.md',
    '| `objectId` | yes | TODO: what it is for (guid) |',
    '| `objectId` | yes | GUID of the object |',
  ],
  ['docs/devices.md', 'TODO: what it is for (modelId)', 'model definition identifier'],
  ['docs/devices.md', 'TODO: what a second one does; begin with gives, succeeds or refused.', 'succeeds again.'],
] as const;

describe('npm run new-message', () => {
  it('shows its help', async () =>
    expect(await newMessage('--help')).toMatchObject({
      status: 0,
      said: expect.stringContaining('sandbox/stories/NAME.ts'),
    }));

  it.each<[string[], string]>([
    [[], 'One name is needed'],
    [['model.a', 'model.b'], 'One name is needed'],
    [['--force'], '--force'],
    [['archive'], 'is no name of an action'],
    [['model.Archive'], 'is no name of an action'],
    [['../model.archive'], 'is no name of an action'],
    [['Svc.Device.Deleted'], 'Events are deprecated'],
    [['model.update'], 'src/messages/model.update.ts exists already'],
  ])('refuses %j with the reason, before it writes anything', async (args, words) => {
    const index = readFileSync(join(copy, 'src/messages/index.ts'), 'utf8');
    expect(await newMessage(...args)).toMatchObject({ status: 1, said: expect.stringContaining(words) });
    expect(readFileSync(join(copy, 'src/messages/index.ts'), 'utf8')).toBe(index);
  });
  it('adds a message whose types, generated pages and tests are complete after the open decisions', async () => {
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config=test/support/oneWorker.config.ts'];
    const succeeds = async (program: string, ...args: string[]) => {
      const { status, said } = await run(program, ...args);
      expect(status, `${args.join(' ')}\n${said}`).toBe(0);
    };
    const node = process.execPath; // npm takes half a second to start it
    await succeeds('npm', 'run', 'new-message', '--', 'model.archive');
    await succeeds('npm', 'run', 'docs');
    const { status, said } = await run(node, ...vitest, 'test/docs/written.test.ts', '--testNamePattern=open decision');
    expect(status).toBe(1);
    for (const [page, marked, decided] of decisions) {
      expect(said).toContain(marked);
      const file = join(copy, page);
      writeFileSync(file, readFileSync(file, 'utf8').replace(marked, decided));
    }
    await succeeds(node, 'node_modules/typescript/bin/tsc', '--singleThreaded'); // several threads check what they share several times
    await succeeds(node, ...vitest, ...concerned);
    await succeeds(node, ...vitest, alone);
    for (const page of ['docs/devices.md', 'docs/contracts/asyncapi.yaml'])
      expect(readFileSync(join(copy, page), 'utf8')).toContain('model.archive');
  });
});
