import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { buildService } from '../sandbox/service/build.ts';
import { execFile } from '../sandbox/service/endWithUs.ts';
import { projectDirectory } from '../sandbox/state/directories.ts';

/** The section of a version in the changelog, without its title, and what it lacks, in sentences. */
interface Section {
  readonly notes: string;
  readonly missing: readonly string[];
}

export function sectionOf(changelog: string, version: string): Section {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((one) => one.startsWith(`${version} (`));
  if (section === undefined) return { notes: '', missing: [`CHANGELOG.md has no section ${version}.`] };
  const [title = '', ...lines] = section.split('\n');
  const text = lines.join('\n').trim();
  const parts = ['**Upgrade**', '**Roll back**'].filter((part) => !text.includes(part));
  return {
    notes: `${text}\n`,
    missing: [
      ...(/^\S+ \(\d{4}-\d\d-\d\d\)$/.test(title)
        ? []
        : [`CHANGELOG.md: “${title}” has no date as in “1.0.0 (2026-01-31)”.`]),
      ...(text.split(/^\*\*Upgrade\*\*/m)[0]?.trim() ? [] : [`CHANGELOG.md: ${version} says nothing of what is new.`]),
      ...parts.map((part) => `CHANGELOG.md: ${version} has no ${part}.`),
    ],
  };
}

/** A version that was released, and the commit it was made of. */
interface Release {
  readonly version: string;
  readonly commit: string;
}

/** The list of what has been released, the first one first: `.ci/releases` has a line for each, as `1.0.0 <commit>`. */
const releasesFile = '.ci/releases';

export const releasesIn = (project: string): readonly Release[] =>
  parseReleases(readFileSync(join(project, releasesFile), 'utf8'));

/** @throws Error when a line is wrong, or versions do not rise */
export function parseReleases(text: string): readonly Release[] {
  const releases = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Release => {
      const [, version = '', commit = ''] = /^(\d+\.\d+\.\d+) ([0-9a-f]{40})$/.exec(line) ?? [];
      if (commit === '')
        throw new Error(`${releasesFile}: ${JSON.stringify(line)} is not as “1.0.0 <40 digits of the commit>”`);
      return { version, commit };
    });
  for (const [index, { version }] of releases.entries()) {
    const before = releases[index - 1];
    if (before && !isAbove(version, before.version))
      throw new Error(`${releasesFile}: ${version} is not above ${before.version}`);
  }
  return releases;
}

/** @throws Error when nothing has been released */
export function lastRelease(releases: readonly Release[]): Release {
  const last = releases.at(-1);
  if (last === undefined) throw new Error(`${releasesFile} has no release`);
  return last;
}

/** What the list says against a version, in sentences. */
export function alreadyReleased(version: string, releases: readonly Release[]): readonly string[] {
  const same = releases.find((one) => one.version === version);
  if (same) return [`${version} has been released, as commit ${same.commit} (${releasesFile}).`];
  const last = releases.at(-1);
  return last && !isAbove(version, last.version)
    ? [`${version} is below ${last.version}, which has been released (${releasesFile}).`]
    : [];
}

function isAbove(one: string, other: string): boolean {
  const [left, right] = [one, other].map((version) => version.split('.').map(Number)) as [number[], number[]];
  const at = left.findIndex((part, index) => part !== right[index]);
  return at >= 0 && (left[at] ?? 0) > (right[at] ?? 0);
}

/** What runs, as in the image. */
export const ofImage = ['dist', 'config', 'package.json', 'LICENSE'] as const;
/** What only a machine without containers needs, and people. */
export const besides = ['deploy/systemd', 'CHANGELOG.md', 'SECURITY.md', '.env.example'] as const;

/** In `dist` of a checkout, and not of an image: scripts as they have run here, and the compiler's notes. */
const isOfCheckout = (path: string) => /(^|\/)dist\/(run$|.*\.tsbuildinfo$|\.tsbuildinfo$)/.test(path);

interface Packing {
  /** Its folder. */
  readonly project: string;
  /** Of the folder in the archive. */
  readonly name: string;
  /** The file to write, `.tar.gz`. */
  readonly archive: string;
  /** For the log of what the units start. */
  readonly commit: string;
  /** The time of all files, in seconds since 1970. */
  readonly at: number;
}

/** Packs the built service: the same files make the same bytes, on any machine and at any time. */
export async function pack({ project, name, archive, commit, at }: Packing): Promise<void> {
  const stage = await mkdtemp(join(tmpdir(), 'pack-'));
  try {
    const root = join(stage, name);
    await mkdir(root);
    for (const one of [...ofImage, ...besides])
      await cp(join(project, one), join(root, one), { recursive: true, filter: (from) => !isOfCheckout(from) });
    const units = join(root, 'deploy/systemd');
    for (const unit of await readdir(units)) {
      const text = await readFile(join(units, unit), 'utf8');
      await writeFile(join(units, unit), text.replace(/^Environment=/m, `Environment=BUILD_COMMIT=${commit} `));
    }
    const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'];
    const order = ['--sort=name', `--mtime=@${at}`, '--format=ustar'];
    const args = ['--create', `--directory=${stage}`, ...order, ...owner, `--file=${stage}/release.tar`, name];
    await promisify(execFile)('tar', args);
    await promisify(execFile)('sh', [
      '-c',
      'gzip --no-name --best < "$1" > "$2"',
      'sh',
      `${stage}/release.tar`,
      archive,
    ]);
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/** Where the version of the project stands. All parts have the same. */
const manifests = ['package.json', 'edge/package.json', 'iot-hub-emulator/package.json', 'telemetry/package.json'];
const ownPackages = ['telemetry', 'iot-hub-emulator'];
const dockerfiles = ['Dockerfile', 'edge/Dockerfile'];
const label = /(?<=^LABEL org\.opencontainers\.image\.version=).*$/m;

/** A file, and what it would be with another version. */
interface Versioned {
  readonly file: string;
  readonly text: string;
  readonly next: string;
}

/** Which files do not have this version. */
export const otherVersions = (version: string): readonly string[] =>
  versioned(version).flatMap(({ file, text, next }) => (text === next ? [] : [file]));

function setVersion(version: string): void {
  for (const { file, text, next } of versioned(version)) if (text !== next) writeFileSync(file, next);
}

function versioned(version: string): Versioned[] {
  const lock = change('package-lock.json', (text) => {
    const parsed = JSON.parse(text);
    parsed.version = version;
    for (const folder of ['', ...manifests.slice(1).map((file) => file.replace('/package.json', ''))])
      withVersion(parsed.packages[folder], version);
    return parsed;
  });
  const packages = manifests.map((file) => change(file, (text) => withVersion(JSON.parse(text), version)));
  const labels = dockerfiles.map((file) => {
    const text = readFileSync(file, 'utf8');
    return { file, text, next: text.replace(label, version) };
  });
  return [...packages, lock, ...labels];
}

function change(file: string, next: (text: string) => object): Versioned {
  const text = readFileSync(file, 'utf8');
  return { file, text, next: `${JSON.stringify(next(text), null, 2)}\n` };
}

function withVersion(manifest: Record<string, unknown>, version: string): object {
  manifest['version'] = version;
  for (const group of ['dependencies', 'devDependencies']) {
    const wanted = manifest[group] as Record<string, string> | undefined;
    for (const name of ownPackages) if (wanted?.[name] !== undefined) wanted[name] = version;
  }
  return manifest;
}

/** Makes all that a release consists of, and says what a person has to sign and push. `npm run release -- 1.0.0 --dry-run` */

const usage = `Usage: npm run release -- VERSION [--dry-run | --next]

Builds, and makes in release/VERSION: the archive of the service for machines
without containers, bills of materials, notices, sums, and the text of the
release. Signs and pushes nothing: it ends with what a person has to do. Refuses
a version that ${releasesFile} lists, or that is below the last one there, or that
the files of the project do not have.

  --dry-run   changes nothing: makes everything in a folder that it removes,
              and says what is missing
  --next      sets the version where it stands, and makes nothing: after a
              release, that of the next one
`;

const git = async (...args: string[]) =>
  (await promisify(execFile)('git', args, { cwd: projectDirectory })).stdout.trim();

/** What is wrong with the checkout, in sentences. */
async function obstacles(version: string): Promise<string[]> {
  const found: string[] = [];
  if ((await git('status', '--porcelain')) !== '') found.push('The checkout has changes that are not committed.');
  if ((await git('tag', '--list', `v${version}`)) !== '') found.push(`There is a tag v${version} already.`);
  const frozen = await readFile(`test/formats/fixtures/${version}/ids.json`, 'utf8').catch(() => undefined);
  if (frozen === undefined)
    found.push(`Formats of ${version} are not frozen: node scripts/run.js test/formats/main.ts ${version}`);
  return found;
}

/** The files of a release, with their contents. */
async function make(version: string, folder: string, notes: string): Promise<readonly string[]> {
  await buildService();
  const at = Number(await git('log', '-1', '--format=%ct'));
  const name = `device-messaging-service-${version}`;
  const commit = await git('rev-parse', 'HEAD');
  await pack({ project: projectDirectory, name, archive: join(folder, `${name}.tar.gz`), commit, at });
  for (const [program, dist] of [
    ['service', 'dist'],
    ['edge-proxy', 'edge/dist'],
  ] as const) {
    await cp(join(dist, 'bom.cdx.json'), join(folder, `${program}-${version}.cdx.json`));
    await cp(join(dist, 'third-party-notices.txt'), join(folder, `${program}-${version}-third-party-notices.txt`));
  }
  await writeFile(join(folder, 'release-notes.md'), notes);
  const files = [
    `${name}.tar.gz`,
    ...['service', 'edge-proxy'].flatMap((one) => [
      `${one}-${version}.cdx.json`,
      `${one}-${version}-third-party-notices.txt`,
    ]),
    'release-notes.md',
  ];
  const sums = await Promise.all(
    files.map(
      async (file) =>
        `${createHash('sha256')
          .update(await readFile(join(folder, file)))
          .digest('hex')}  ${file}\n`,
    ),
  );
  await writeFile(join(folder, 'SHA256SUMS'), sums.join(''));
  return [...files, 'SHA256SUMS'];
}

const steps = (version: string, commit: string) => `
Left to a person, at commit ${commit}:

  1. Read release/${version}/release-notes.md, and let CI pass: .ci/run
  2. Sign the sums:  gpg --armor --detach-sign release/${version}/SHA256SUMS
  3. Sign the tag:   git tag --sign v${version} --message 'Version ${version}' ${commit}
  4. Build and push both images, for each kind of machine (arm64 is not proven):
       docker buildx build --platform linux/amd64,linux/arm64 --build-arg COMMIT=${commit} \\
         --tag REGISTRY/device-messaging-service:${version} --push .
       docker buildx build --platform linux/amd64,linux/arm64 --build-arg COMMIT=${commit} \\
         --file edge/Dockerfile --tag REGISTRY/edge-proxy:${version} --push .
  5. Sign the images by their digests, and push the tag:  git push origin v${version}
  6. Publish the files of release/${version} with SHA256SUMS.asc.
  7. Publish the package of the hub emulator:  npm publish --workspace iot-hub-emulator
  8. Append the line “${version} ${commit}” to ${releasesFile}: the next builds run beside this one.
  9. Begin the next version: its section in both changelogs, and  npm run release -- NEXT --next
`;

async function release(version: string, isDry: boolean): Promise<number> {
  const refusals = [
    ...alreadyReleased(version, releasesIn(projectDirectory)),
    ...otherVersions(version).map((file) => `${file} has another version.`),
  ];
  if (refusals.length > 0) return refuse(refusals);
  const { notes, missing } = sectionOf(await readFile('CHANGELOG.md', 'utf8'), version);
  const lacking = [...missing, ...(await obstacles(version))];
  if (lacking.length > 0 && !isDry) return refuse(lacking);
  const folder = isDry ? await mkdtemp(join(tmpdir(), 'release-')) : join(projectDirectory, 'release', version);
  await mkdir(folder, { recursive: true });
  try {
    const files = await make(version, folder, notes);
    for (const file of files) console.log(`✓ ${file}  ${(await readFile(join(folder, file))).length} bytes`);
    console.log(`\n${await readFile(join(folder, 'SHA256SUMS'), 'utf8')}`);
    console.log(notes);
    refuse(lacking);
    console.log(steps(version, await git('rev-parse', 'HEAD')));
    if (isDry) console.log('A dry run: nothing was kept.');
    return lacking.length === 0 ? 0 : 1;
  } finally {
    if (isDry) await rm(folder, { recursive: true, force: true });
  }
}

/** Has the head carry the version that comes after the last release. */
function begin(version: string): number {
  const refusals = alreadyReleased(version, releasesIn(projectDirectory));
  if (refusals.length > 0) return refuse(refusals);
  const others = otherVersions(version);
  setVersion(version);
  console.log(
    others.length === 0 ? `The version is ${version}.` : `The version is ${version} now in ${others.join(', ')}.`,
  );
  return 0;
}

function refuse(reasons: readonly string[]): 1 {
  for (const one of reasons) console.log(`✗ ${one}`);
  return 1;
}

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'dry-run': { type: 'boolean', default: false },
      next: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const [version = '', ...more] = positionals;
  const isWrong = !/^\d+\.\d+\.\d+$/.test(version) || more.length > 0 || (values.next && values['dry-run']);
  if (values.help || isWrong) {
    process.stdout.write(usage);
    process.exitCode = values.help ? 0 : 1;
  } else process.exitCode = values.next ? begin(version) : await release(version, values['dry-run']);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
