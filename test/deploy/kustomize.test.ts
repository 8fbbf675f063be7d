import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { execFile } from '../../sandbox/service/endWithUs.ts';
import { build, nameOf, type Resource } from './kustomize.ts';
import { overlays } from './overlays.ts';

const hasKubectl = (() => {
  try {
    execFileSync('kubectl', ['kustomize', '--help'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

const byName = (resources: readonly Resource[]) => new Map(resources.map((one) => [nameOf(one), one]));

it('deploy/kubernetes has no overlay without a test', () =>
  expect(readdirSync('deploy/kubernetes/overlays').map((name) => `deploy/kubernetes/overlays/${name}`)).toEqual(
    overlays,
  ));

it.skipIf(!hasKubectl).each(overlays)('kubectl kustomize makes the same of %s', async (folder) => {
  const { stdout } = await promisify(execFile)('kubectl', ['kustomize', folder]);
  const theirs = parseAllDocuments(stdout).map((document) => document.toJS() as Resource);
  expect(byName(build(folder))).toEqual(byName(theirs));
});

describe('a kustomization', () => {
  const folder = folderForEach('kustomize');
  const withFiles = (files: Readonly<Record<string, string>>): readonly Resource[] => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return build(folder);
  };
  const one = 'kind: ConfigMap\nmetadata: { name: one }\ndata: { a: b }\n';

  it('is refused with what is not known here, with a name twice, with a patch of nothing, and with a wrong file', () => {
    expect(() => withFiles({ 'kustomization.yaml': 'namePrefix: my-' })).toThrow('namePrefix');
    expect(() => withFiles({ 'kustomization.yaml': 'resources: [one.yaml]', 'one.yaml': `${one}---\n${one}` })).toThrow(
      'ConfigMap one twice',
    );
    expect(() => withFiles({ 'kustomization.yaml': 'patches: [{ path: one.yaml }]', 'one.yaml': one })).toThrow(
      'patched and absent',
    );
    expect(() => withFiles({ 'kustomization.yaml': 'patches: [{ path: one.yaml, taget: {} }]' })).toThrow('taget');
    expect(() => withFiles({ 'kustomization.yaml': 'resources: [one.yaml]', 'one.yaml': 'a: [' })).toThrow('one.yaml');
  });

  it('merges by names what has names, and replaces other lists', () => {
    const pod = 'kind: Pod\nmetadata: { name: one }\nspec: ';
    const built = withFiles({
      'kustomization.yaml': 'resources: [one.yaml]\npatches: [{ path: patch.yaml }]',
      'one.yaml': `${pod}{ containers: [{ name: a, image: x, args: [y] }] }`,
      'patch.yaml': `${pod}{ containers: [{ name: a, args: [z] }, { name: b }] }`,
    });
    expect(built[0]?.['spec']).toEqual({ containers: [{ name: 'b' }, { name: 'a', image: 'x', args: ['z'] }] });
  });
});
