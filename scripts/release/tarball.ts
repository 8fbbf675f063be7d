import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { execFile } from '../../sandbox/service/endWithUs.ts';

/** What runs, as in the image. */
export const ofImage = ['dist', 'config', 'package.json', 'LICENSE'] as const;
/** What clusters and machines without containers need, and people. */
export const besides = ['deploy', 'docs', 'README.md', 'CHANGELOG.md', 'SECURITY.md', '.env.example'] as const;

/**
 * In `dist` of a checkout, and not for others: scripts as they have run here, the compiler's notes, and what V8 made of the programs, which
 * is for one version of Node and differs from build to build (D175).
 */
const isOfCheckout = (path: string) => /(^|\/)dist\/(run$|.*\.tsbuildinfo$|\.tsbuildinfo$|\w+\.cache$)/.test(path);

interface Packing {
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
    const packed = ['--use-compress-program=gzip --no-name --best', `--file=${archive}`];
    await promisify(execFile)('tar', ['--create', `--directory=${stage}`, ...order, ...owner, ...packed, name]);
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}
