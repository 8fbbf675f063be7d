/** Makes all that a release consists of, and says what a person has to sign and push. `npm run release -- 1.0.0 --dry-run` */

import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { buildService } from '../sandbox/service/build.ts';
import { execFile } from '../sandbox/service/endWithUs.ts';
import { projectDirectory } from '../sandbox/state/directories.ts';
import { sectionOf } from './release/changelog.ts';
import { alreadyReleased, releasesFile, releasesIn } from './release/releases.ts';
import { pack } from './release/tarball.ts';
import { otherVersions, setVersion } from './release/versions.ts';

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

async function obstacles(version: string): Promise<string[]> {
  const found: string[] = [];
  if ((await git('status', '--porcelain')) !== '') found.push('The checkout has changes that are not committed.');
  if ((await git('tag', '--list', `v${version}`)) !== '') found.push(`There is a tag v${version} already.`);
  const ofHub = await readFile('iot-hub-emulator/CHANGELOG.md', 'utf8');
  if (!new RegExp(`^## ${version} \\(\\d{4}-`, 'm').test(ofHub))
    found.push(`iot-hub-emulator/CHANGELOG.md has no section ${version} with a date.`);
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
  const files = [`${name}.tar.gz`];
  const copied = { 'bom.cdx.json': '.cdx.json', 'third-party-notices.txt': '-third-party-notices.txt' };
  for (const [program, dist] of Object.entries({ service: 'dist', 'edge-proxy': 'edge/dist' }))
    for (const [file, ending] of Object.entries(copied)) {
      files.push(`${program}-${version}${ending}`);
      await cp(join(dist, file), join(folder, `${program}-${version}${ending}`));
    }
  await writeFile(join(folder, 'release-notes.md'), notes);
  files.push('release-notes.md');
  const sums = await Promise.all(
    files.map(async (file) => {
      const hash = createHash('sha256').update(await readFile(join(folder, file)));
      return `${hash.digest('hex')}  ${file}\n`;
    }),
  );
  await writeFile(join(folder, 'SHA256SUMS'), sums.join(''));
  return [...files, 'SHA256SUMS'];
}

const steps = (version: string, commit: string) => `
Left to a person, at commit ${commit}:

  1. Read release/${version}/release-notes.md, and let CI pass: .ci/run
  2. Sign the sums:  gpg --armor --detach-sign release/${version}/SHA256SUMS
  3. Sign the tag:   git tag --sign v${version} --message 'Version ${version}' ${commit}
  4. Build and push the images, for each kind of machine (arm64 is not proven); PAGES is where docs/ can be read:
       for IMAGE in Dockerfile=device-messaging-service edge/Dockerfile=edge-proxy iot-hub-emulator/Dockerfile=iot-hub-emulator; do
         docker buildx build --platform linux/amd64,linux/arm64 --build-arg COMMIT=${commit} --build-arg PAGES="$PAGES" \\
           --file "\${IMAGE%=*}" --tag "$REGISTRY/\${IMAGE#*=}:${version}" --push .
       done
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
