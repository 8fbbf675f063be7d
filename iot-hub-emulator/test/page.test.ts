import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { readArguments } from '../src/command/options.ts';
import { requestFor } from '../src/command/remote.ts';
import { describe as describeHub } from '../src/command/stateFile.ts';
import { faultKinds } from '../src/faults/kinds.ts';
import { parseFault } from '../src/faults/schema.ts';
import { issueCertificate } from '../src/identity/issueCertificate.ts';
import { folderForAll } from './support/fixtures.ts';
import { hubForTest } from './support/sharedHub.ts';

const page = readFileSync('iot-hub-emulator/README.md', 'utf8');

describe('README', () => {
  test('lists exactly the kinds of faults', () => {
    const [section = ''] = page.split('\n## Faults\n')[1]?.split('\n## ') ?? [];
    const rows = section.split('\n').filter((line) => /^\| `/.test(line));
    const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name));
    expect(named.toSorted()).toEqual(
      faultKinds()
        .map(({ kind }) => kind)
        .toSorted(),
    );
  });
  test('has a recipe that is tested', () => {
    const [, recipe = ''] = /<!-- recipe: .* -->\n```ts\n(.*?)```/s.exec(page) ?? [];
    expect(recipe).toBe(readFileSync('iot-hub-emulator/test/recipe.test.ts', 'utf8'));
  });
  test('lists exactly the exports that a package has', () => {
    const { exports } = JSON.parse(readFileSync('iot-hub-emulator/package.json', 'utf8'));
    const rows = page.split('\n').filter((line) => line.startsWith('| `iot-hub-emulator'));
    const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`iot-hub-emulator([^`]*)`/g)]);
    const packed = Object.keys(exports).filter((name) => 'default' in exports[name]);
    expect(named.map(([, name]) => `.${name}`).toSorted()).toEqual(packed.toSorted());
  });
  test('lists exactly the keys of hub.json', async () => {
    const hub = await hubForTest();
    const table = page.split('| key of `hub.json`')[1]?.split('\n\n', 1)[0] ?? '';
    const rows = table.split('\n').slice(2);
    const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, key]) => key));
    expect(named).toEqual(Object.keys(describeHub(hub, new Date())));
    for (const port of Object.keys(hub.ports)) expect(rows.find((row) => row.startsWith('| `ports`'))).toContain(port);
  });
  const commands = [...page.matchAll(/^npx iot-hub-emulator (.*?)(?: +#.*)?$/gm)].map(([, words = '']) => words);
  const directory = folderForAll('page');
  beforeAll(async () => {
    const { cert } = await issueCertificate({ name: 'of-the-page', role: 'authority' });
    for (const file of commands.flatMap((line) => line.match(/\b[\w-]+\.pem\b/g) ?? []))
      writeFileSync(join(directory, file), cert);
  });
  test('has commands', () => expect(commands.length).toBeGreaterThan(10));
  test.each(commands)('has a command that works: %s', (line) => {
    const args = line.split(' ').filter((word) => word !== '');
    const { words, help } = readArguments(args, '/', '/', {
      AZURE_STORAGE_CONNECTION_STRING: 'AccountName=a;AccountKey=a2V5',
    });
    if (words.length === 0 || help) return;
    const { path, body } = requestFor(words, directory);
    if (path.startsWith('/faults') && body) parseFault(body);
  });
  const bodies = [...page.matchAll(/^curl -d '(.*)' \$ADMIN\/faults$/gm)].map(([, body = '']) => body);
  test.each(bodies)('has a valid fault: %s', (body) => expect(() => parseFault(JSON.parse(body))).not.toThrow());
});
