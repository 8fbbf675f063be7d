import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type {
  failover,
  invocationLimits,
  reading,
  secretFiles,
  spoolLimits,
  timing,
} from '../../src/settings/groups/constants.ts';

interface Changeable {
  readonly timing: typeof timing;
  readonly reading: typeof reading;
  readonly failover: typeof failover;
  readonly spoolLimits: typeof spoolLimits;
  readonly invocationLimits: typeof invocationLimits;
  readonly secretFiles: typeof secretFiles;
}

const preload = pathToFileURL(join(import.meta.dirname, 'constantsPreload.js')).href;

/**
 * For the environment of a process of the service or the front door: some of its constants have these values instead. The
 * programs themselves have no switch for that (D291).
 */
export const withConstants = (changes: { readonly [Name in keyof Changeable]?: Partial<Changeable[Name]> }) => ({
  NODE_OPTIONS: `--import=${preload}?${encodeURIComponent(JSON.stringify(changes))}`,
});
