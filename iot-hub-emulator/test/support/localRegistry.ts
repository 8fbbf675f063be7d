import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { execFile } from '../../../sandbox/service/endWithUs.ts';

type Installed = { folder: string; manifest: { name: string; version: string } };

/** The packages that are installed in a project, as its lock file knows them. */
function installedIn(project: string): Installed[] {
  const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'));
  return Object.entries<{ link?: boolean }>(packages).flatMap(([path, { link }]) => {
    const folder = join(project, path);
    const file = join(folder, 'package.json');
    if (!path.includes('node_modules/') || link || !existsSync(file)) return [];
    return [{ folder, manifest: JSON.parse(readFileSync(file, 'utf8')) }];
  });
}

/** A registry of the packages that are installed here: npm installs from it without any network. */
export async function serveInstalled(project: string): Promise<{ url: string; close(): void }> {
  const installed = installedIn(project);
  let url = '';
  const document = (name: string) => {
    const versions = installed.filter(({ manifest }) => manifest.name === name);
    return {
      name,
      'dist-tags': { latest: versions[0]?.manifest.version },
      versions: Object.fromEntries(
        versions.map(({ manifest }) => {
          const { version } = manifest;
          return [version, { ...manifest, dist: { tarball: `${url}/-/${encodeURIComponent(`${name}@${version}`)}` } }];
        }),
      ),
    };
  };
  const server = createServer(async ({ url: asked = '' }, response) => {
    const [, isArchive, wanted = ''] = /^\/(-\/)?(.*)$/.exec(decodeURIComponent(asked)) ?? [];
    const found = installed.find(
      ({ manifest: { name, version } }) => wanted === (isArchive ? `${name}@${version}` : name),
    );
    if (!found) response.writeHead(404).end();
    else if (isArchive) response.end(await archiveOf(found.folder));
    else response.end(JSON.stringify(document(wanted)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** What npm would have fetched, but for packages that are inside of it. */
async function archiveOf(folder: string): Promise<Buffer> {
  const renamed = '--transform=s,^\\.,package,';
  const args = ['--create', '--gzip', `--directory=${folder}`, '--exclude=./node_modules', renamed, '.'];
  const { stdout } = await promisify(execFile)('tar', args, { encoding: 'buffer', maxBuffer: 2 ** 28 });
  return stdout;
}
