import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { startBackends } from '../../sandbox/backends/backends.ts';
import { readArguments as readDevice } from '../../sandbox/device/deviceOptions.ts';
import { callers, readArguments as readInvoke } from '../../sandbox/invoke/invokeOptions.ts';

const [section = ''] = readFileSync('docs/sandbox.md', 'utf8').split('\n## Remote methods\n')[1]?.split('\n## ') ?? [];

/** The words of a command, as a shell splits them. */
const words = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, bare]) => single ?? double ?? bare ?? '');

const commands = (name: string): string[] =>
  [...section.matchAll(new RegExp(`^npm run ${name} -- (.*?)(?: +#.*)?$`, 'gm'))].map(([, line = '']) => line);

describe('the page about remote methods in the sandbox', () => {
  const backends = startForAll(() => startBackends({ seed: true }));

  it.each(commands('device'))('has a command for a device that works: %s', (line) =>
    expect(readDevice(words(line))?.methods).toBeDefined(),
  );
  it.each(commands('invoke'))('has a command for an application with an existing object and method: %s', (line) => {
    const { object, method } = readInvoke(words(line)) ?? {};
    const found = backends.world.objects.list().find(({ owner }) => owner?.path === object);
    expect(JSON.parse(found?.type.text ?? '').methods).toHaveProperty(method ?? '');
  });
  it('has commands', () => expect([commands('device').length, commands('invoke').length]).toEqual([1, 4]));

  it('names the objects of the example world with their owners', () => {
    const rows = [...section.matchAll(/^\| ([A-Z][\w ]+), `([^`]+)` \| (?:`([^`]+)`|nobody)/gm)];
    const motors = backends.world.objects.list().filter(({ type }) => type.typeId.endsWith('motor'));
    expect(rows.map(([, name, type, owner]) => [name, `${type}.0.0`, owner])).toEqual(
      motors.map(({ name, type, owner }) => [name, type.ref, owner?.path]),
    );
  });
  it('names the callers', () => {
    const [line = ''] = section.match(/^The tokens: .*$/m) ?? [];
    const named = [...line.matchAll(/(?<=[:;] )`(\w+)`/g)].map(([, name]) => name);
    expect([...named, 'none']).toEqual(callers);
  });

  const requests = [...section.matchAll(/^curl -d '(.*)' "?\$BACKENDS(\/[^"\n]*)"?$/gm)];
  it.each(requests.map(([, body, path]) => ({ body, path })))(
    'has a request that works: $path',
    async ({ body, path }) => {
      const response = await fetch(`${backends.adminUrl}${path}`, { method: 'POST', body: body ?? '' });
      expect([response.status, requests.length]).toEqual([201, 2]);
    },
  );
});
