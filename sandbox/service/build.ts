import { promisify } from 'node:util';
import { projectDirectory } from '../state/directories.ts';
import { execFile } from './endWithUs.ts';
import { isUpToDate } from './upToDate.ts';

/** The service does not compile; the message has the compiler's words. */
export class BuildFailed extends Error {
  override name = 'BuildFailed';
}

/**
 * Runs `npm run build`, unless nothing has changed since. Resolves with the milliseconds it took.
 * @param begins is called before a build
 */
export async function buildService(begins = () => {}): Promise<number> {
  const start = performance.now();
  if (await isUpToDate()) return performance.now() - start;
  begins();
  const shell = process.platform === 'win32';
  try {
    await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: projectDirectory, shell });
  } catch (error) {
    const said = error instanceof Error && 'stdout' in error && error.stdout ? error.stdout : error;
    throw new BuildFailed(`The service does not compile (npm run build):\n\n${said}`);
  }
  return performance.now() - start;
}
