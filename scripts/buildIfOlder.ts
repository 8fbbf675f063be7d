import { BuildFailed, buildService } from '../sandbox/service/build.ts';

/**
 * Builds service and edge proxy for the commands that start them, if the build is older than its sources. Silent when it is not;
 * ends the process when it fails, so that nothing is done with the older build.
 */
try {
  await buildService(() => process.stderr.write('Building: the sources are newer than what is built.\n'));
} catch (error) {
  if (!(error instanceof BuildFailed)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
