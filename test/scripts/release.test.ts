import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { sectionOf } from '../../scripts/release/changelog.ts';
import { alreadyReleased, lastRelease, parseReleases, releasesIn } from '../../scripts/release/releases.ts';
import { besides, ofImage, pack } from '../../scripts/release/tarball.ts';
import { otherVersions } from '../../scripts/release/versions.ts';
import { overlays } from '../deploy/kustomize.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

const directory = folderForAll('release-test');

it('all parts have one version, which both changelogs have, too', () => {
  expect(otherVersions(version)).toEqual([]);
  expect(readFileSync('CHANGELOG.md', 'utf8')).toContain(`\n## ${version} (`);
  expect(readFileSync('iot-hub-emulator/CHANGELOG.md', 'utf8')).toContain(`\n## ${version} (`);
});

it('another version would change the packages, the lock file, the labels of the images and where they are deployed', () => {
  const files = [
    ...['Dockerfile', 'edge/Dockerfile', 'iot-hub-emulator/Dockerfile', 'edge/package.json'],
    ...['iot-hub-emulator/package.json', 'package-lock.json'],
    ...['package.json', 'telemetry/package.json', 'deploy/helm/Chart.yaml', 'deploy/helm/values.yaml'],
    ...overlays.map((folder) => `${folder}/kustomization.yaml`),
  ];
  expect([...otherVersions('9.9.9')].sort()).toEqual(files.sort());
});

it('this version is above what has been released', () => expect(alreadyReleased(version, releasesIn('.'))).toEqual([]));

describe('the list of releases', () => {
  const [one, two] = ['1'.repeat(40), '2'.repeat(40)];
  const list = `1.9.0 ${one}\n1.10.0 ${two}\n`;

  it('has versions and commits, the last release last', () => {
    expect(lastRelease(parseReleases(list))).toEqual({ version: '1.10.0', commit: two });
    expect(() => lastRelease(parseReleases(''))).toThrow('no release');
  });
  it.each([
    ['a commit that is cut off', `1.9.0 ${one.slice(1)}`, 'is not as'],
    ['no version', `v1.9 ${one}`, 'is not as'],
    ['a version twice', `1.9.0 ${one}\n1.9.0 ${two}`, '1.9.0 is not above 1.9.0'],
    ['a lower version behind a higher one', `1.10.0 ${one}\n1.9.0 ${two}`, '1.9.0 is not above 1.10.0'],
  ])('is refused with %s', (_, text, why) => expect(() => parseReleases(text)).toThrow(why));
  it.each([
    ['1.9.0', `1.9.0 has been released, as commit ${one}`],
    ['1.10.0', `1.10.0 has been released, as commit ${two}`],
    ['1.9.9', '1.9.9 is below 1.10.0'],
    ['0.11.0', '0.11.0 is below 1.10.0'],
  ])('says that %s comes too late', (late, why) =>
    expect(alreadyReleased(late, parseReleases(list))).toEqual([expect.stringContaining(why)]),
  );
  it('says nothing against a higher one', () => {
    for (const next of ['1.10.1', '1.11.0', '2.0.0']) expect(alreadyReleased(next, parseReleases(list))).toEqual([]);
  });
});

function run(...args: string[]) {
  const env = { PATH: process.env['PATH'], HOME: directory, TMPDIR: directory };
  return spawnSync(process.execPath, ['scripts/run.js', 'scripts/release.ts', ...args], { encoding: 'utf8', env });
}

describe('npm run release', () => {
  it('refuses what has been released, and what the head is not, before it makes anything', () => {
    const { version: last, commit } = lastRelease(releasesIn('.'));
    for (const option of [[], ['--dry-run'], ['--next']]) {
      const { status, stdout } = run(last, ...option);
      expect([status, stdout]).toEqual([
        1,
        expect.stringContaining(`✗ ${last} has been released, as commit ${commit}`),
      ]);
      expect(stdout).not.toContain('✓');
    }
    const { status, stdout } = run('9.9.9');
    expect([status, stdout]).toEqual([1, expect.stringContaining('✗ package.json has another version.')]);
    expect(otherVersions(version)).toEqual([]);
  });
  it.each([['1.1'], ['1.1.0', '1.2.0'], ['9.9.9', '--next', '--dry-run']])(
    'shows how it is used for %s %s %s',
    (...args) =>
      expect(run(...args)).toMatchObject({
        status: 1,
        stdout: expect.stringContaining('Usage: npm run release -- VERSION'),
      }),
  );
});

describe('the section of a version', () => {
  const section = '## 1.1.0 (2027-01-31)\n\nNew.\n\n**Upgrade**: a.\n\n**Roll back**: b.\n';

  it('has the notes, and nothing of other versions', () => {
    const changelog = `# Changelog\n\n${section}\n## 1.0.0 (2026-11-25)\n\nOld.\n`;
    expect(sectionOf(changelog, '1.1.0')).toEqual({ notes: section.split('\n\n').slice(1).join('\n\n'), missing: [] });
    expect(sectionOf(changelog, '2.0.0').missing).toEqual(['CHANGELOG.md has no section 2.0.0.']);
  });
  it.each([
    ['a date', section.replace('2027-01-31', 'soon')],
    ['what an upgrade needs', section.replace('**Upgrade**', '')],
    ['how to roll back', section.replace('**Roll back**', '')],
    ['what is new', section.replace('New.', '')],
    ['a line', '## 1.1.0 (2027-01-31)\n'],
  ])('lacks something without %s', (_, changelog) => {
    const { missing } = sectionOf(changelog, '1.1.0');
    expect(missing.length).toBeGreaterThan(0);
    expect(missing.every((one) => one.startsWith('CHANGELOG.md: '))).toBe(true);
  });
});

describe('the archive', () => {
  const packed = async (project: string, file: string) => {
    const archive = join(directory, file);
    await pack({ project, name: 'service', archive, commit: 'c0ffee', at: 1_700_000_000 });
    return archive;
  };
  const sum = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

  it('has what the image has, and what a machine without containers needs besides', async () => {
    const archive = await packed('.', 'one.tar.gz');
    const listed = execFileSync('tar', ['--list', '--gzip', '--file', archive], { encoding: 'utf8' });
    const files = listed.split('\n').filter((name) => name !== '' && !name.endsWith('/'));
    const top = (name: string) =>
      [...ofImage, ...besides].find((one) => name === `service/${one}` || name.startsWith(`service/${one}/`));
    expect(files.filter((name) => top(name) === undefined)).toEqual([]);
    expect(new Set(files.map(top))).toEqual(new Set([...ofImage, ...besides]));
    const built = files.flatMap((name) => /^service\/dist\/([^/]+)/.exec(name)?.[1] ?? []);
    const programs = ['main', 'methods', 'deadLetters', 'admin', 'tap', 'check', 'envFile', 'backends', 'nodeVersion'];
    expect(new Set(built)).toEqual(
      new Set([
        ...[...programs, 'load'].map((name) => `${name}.js`),
        'package.json',
        'programs',
        'packages',
        'page',
        'bom.cdx.json',
        'third-party-notices.txt',
      ]),
    );
    const copied = readFileSync('Dockerfile', 'utf8')
      .split(/^FROM /m)
      .at(-1)
      ?.match(/(?<=^COPY ).*(?= \.)/gm);
    expect(copied).toEqual(['--from=build /app/dist', 'package.json LICENSE', 'config']);
  });
  it('has the same bytes when others pack the same files at another time', async () => {
    const elsewhere = join(directory, 'elsewhere');
    for (const one of [...ofImage, ...besides]) cpSync(one, join(elsewhere, one), { recursive: true });
    utimesSync(join(elsewhere, 'package.json'), 1, 1);
    expect(sum(await packed(elsewhere, 'two.tar.gz'))).toBe(sum(await packed('.', 'three.tar.gz')));
  });
  it('runs, and its unit names the commit', async () => {
    const archive = await packed('.', 'four.tar.gz');
    execFileSync('tar', ['--extract', '--gzip', '--file', archive, '--directory', directory]);
    const root = join(directory, 'service');
    const unit = readFileSync(join(root, 'deploy/systemd/device-messaging.service'), 'utf8');
    expect(unit).toContain('\nEnvironment=BUILD_COMMIT=c0ffee NODE_ENV=production ');
    const { status, stdout, stderr } = spawnSync(process.execPath, ['dist/check.js'], {
      cwd: root,
      encoding: 'utf8',
      env: {},
    });
    expect([status, stderr]).toEqual([1, '']);
    expect(stdout).toContain(': set HUB_EVENTS_CONNECTION_STRING, or ');
  });
});

it('a dry run makes everything, ends with what is left to a person, and keeps nothing', () => {
  const { stdout, stderr } = run(version, '--dry-run');
  expect(stderr.replace(/^Building.*\n/, '')).toBe('');
  for (const file of [
    `device-messaging-service-${version}.tar.gz`,
    ...['service', 'edge-proxy'].flatMap((one) => [
      `${one}-${version}.cdx.json`,
      `${one}-${version}-third-party-notices.txt`,
    ]),
    ...['release-notes.md', 'SHA256SUMS'],
  ])
    expect(stdout).toMatch(new RegExp(`^✓ ${file.replaceAll('.', '\\.')} {2}\\d+ bytes$`, 'm'));
  // Until the day of the release some things are open, as beside a change of the sources.
  const open = /^✗ CHANGELOG\.md: |are not committed|with a date|are not frozen/;
  expect(stdout.match(/^✗ .*$/gm)?.filter((line) => !open.test(line)) ?? []).toEqual([]);
  expect(stdout).toContain(`git tag --sign v${version}`);
  expect(stdout).toContain('gpg --armor --detach-sign');
  expect(stdout.trimEnd()).toMatch(/A dry run: nothing was kept\.$/);
  expect(readdirSync(directory).filter((name) => /^release-(?!test)/.test(name))).toEqual([]);
});
