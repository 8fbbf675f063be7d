import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Ajv } from 'ajv';
import parseLicence from 'spdx-expression-parse';
import { beforeAll, describe, expect, it } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { bundledPackages } from '../../scripts/build/bundledPackages.js';
import { readDockerfile } from '../../scripts/image/followDockerfile.ts';

interface Component {
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly { readonly expression?: string; readonly license?: { readonly id?: string } }[];
  readonly hashes?: readonly { readonly content: string }[];
}

const isSpdx = (expression: string) => {
  try {
    return parseLicence(expression) !== undefined;
  } catch {
    return false;
  }
};
const nameOf = ({ group, name }: Component) => (group ? `${group}/${name}` : name);
const read = async (path: string) => JSON.parse(await readFile(path, 'utf8'));

describe.each([
  ['the service', 'dist', ['preact']],
  ['the edge proxy', 'edge/dist', []],
])('the image of %s', (_, dist, ofPage) => {
  it('has a bill of materials that is valid CycloneDX 1.6', async () => {
    const schemas = join(
      dirname(createRequire(import.meta.url).resolve('@cyclonedx/cyclonedx-library/package.json')),
      'res/schema',
    );
    const ajv = new Ajv({ strict: false, validateFormats: false });
    for (const name of ['jsf-0.82', 'spdx', 'cryptography-defs'].map((one) => `${one}.SNAPSHOT.schema.json`))
      ajv.addSchema(await read(join(schemas, name)), `http://cyclonedx.org/schema/${name}`);
    const validate = ajv.compile(await read(join(schemas, 'bom-1.6.SNAPSHOT.schema.json')));
    expect(validate(await read(`${dist}/bom.cdx.json`)), JSON.stringify(validate.errors)).toBe(true);
  });
  it('lists exactly the packages whose code it has, with versions and hashes of the lock file', async () => {
    const { components }: { components: Component[] } = await read(`${dist}/bom.cdx.json`);
    const paths = await readdir(`${dist}/packages`, { recursive: true });
    const files = paths.flatMap((path) => (path.endsWith('.js') ? [path.slice(0, -3)] : []));
    expect([...new Set(components.map(nameOf))].sort()).toEqual([...files, ...ofPage].sort());
    const lock: Record<string, { version: string; integrity: string }> = (await read('package-lock.json')).packages;
    const locked = Object.entries(lock).map(([path, { version, integrity = '' }]) =>
      [
        path.replace(/^.*node_modules\//, ''),
        version,
        Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex'),
      ].join(),
    );
    const listed = components.map((one) => [nameOf(one), one.version, one.hashes?.[0]?.content].join());
    expect(listed.filter((one) => !locked.includes(one))).toEqual([]);
  });
  it('names each licence as SPDX does', async () => {
    const { components }: { components: Component[] } = await read(`${dist}/bom.cdx.json`);
    const other = components.filter(({ licenses: [one, ...more] }) => {
      const { expression = one?.license?.id ?? '' } = one ?? {};
      return more.length > 0 || expression === '' || !isSpdx(expression);
    });
    expect(other).toEqual([]);
  });
  it('has the licence of each of them', async () => {
    const { components }: { components: Component[] } = await read(`${dist}/bom.cdx.json`);
    const notices = await readFile(`${dist}/third-party-notices.txt`, 'utf8');
    const lines = notices.split('\n');
    const missing = components.filter(
      (one) => !lines.some((line) => line.startsWith(`${nameOf(one)}@${one.version} (`)),
    );
    expect(missing).toEqual([]);
    expect(notices).not.toContain('(undefined)');
  });
});

it.each([
  ['the service', '.'],
  ['the edge proxy', 'edge'],
  ['the hub emulator', 'iot-hub-emulator'],
])('the image of %s has labels with the version and the licence of its package', async (_, folder) => {
  const { version, license, description } = await read(join(folder, 'package.json'));
  const labels = readDockerfile(await readFile(join(folder, 'Dockerfile'), 'utf8')).flatMap(({ verb, argument }) =>
    verb === 'LABEL' ? [argument.replace('org.opencontainers.image.', '')] : [],
  );
  expect(labels).toEqual(
    expect.arrayContaining([`version=${version}`, `licenses=${license}`, `description="${description}"`]),
  );
});

describe('a bundle', () => {
  const project = folderForAll('bundle');
  beforeAll(async () => {
    const packages = {
      'node_modules/a': { version: '1.0.0', integrity: 'sha512-a', dependencies: { b: '2', absent: '1' } },
      'node_modules/a/node_modules/b': { version: '2.0.0', integrity: 'sha512-b' },
      'node_modules/b': { version: '1.0.0', integrity: 'sha512-c' },
      'node_modules/@c/d': { version: '1.0.0', integrity: 'sha512-d' },
      'node_modules/e': {
        ...{ version: '1.0.0', integrity: 'sha512-e' },
        licenses: [{ type: 'MIT' }, { type: 'GPL', url: 'https://example/licenses/GPL-2.0' }],
      },
    };
    await writeFile(join(project, 'package-lock.json'), JSON.stringify({ packages }));
    for (const [folder, version] of Object.entries({ ...packages, 'node_modules/@c/d': { version: '1.0.1' } })) {
      await mkdir(join(project, folder), { recursive: true });
      await writeFile(
        join(project, folder, 'package.json'),
        JSON.stringify({ name: folder.replace(/^.*node_modules\//, ''), ...version }),
      );
    }
  });
  it('has each package once, with its dependencies where Node.js finds them', () => {
    const files = ['a/index.js', 'a/more.js', 'a/node_modules/b/index.js', 'b/lib/index.js'].map(
      (file) => `/x/node_modules/${file}`,
    );
    const found = bundledPackages([...files, '/x/src/main.ts'], project);
    expect(found.map(({ folder, dependencies }) => [folder, dependencies])).toEqual([
      ['node_modules/a', ['node_modules/a/node_modules/b']],
      ['node_modules/b', []],
      ['node_modules/a/node_modules/b', []],
    ]);
  });
  it('has of a list of licences the SPDX identifiers, from the address when the name is none', () => {
    const [{ manifest } = { manifest: undefined }] = bundledPackages(['/x/node_modules/e/index.js'], project);
    expect(manifest).toMatchObject({ license: 'MIT OR GPL-2.0' });
    expect(manifest).not.toHaveProperty('licenses');
  });
  it('is refused when a package has another version than in the lock file', () =>
    expect(() => bundledPackages(['/x/node_modules/@c/d/index.js'], project)).toThrow(
      'node_modules/@c/d is 1.0.1, the lock file has 1.0.0: run npm ci',
    ));
});
