import { existsSync, rmSync } from 'node:fs';
import { recordFormats } from './recordFormats.ts';

/** `node scripts/run.js test/formats/main.ts 1.1.0` freezes the formats of a release, once. */
const [version = ''] = process.argv.slice(2);
const directory = `test/formats/fixtures/${version}`;

if (!/^\d+\.\d+\.\d+$/.test(version) || existsSync(directory)) {
  process.stderr.write(
    'Usage: node scripts/run.js test/formats/main.ts VERSION, of a version that is not recorded yet\n',
  );
  process.exitCode = 1;
} else {
  await recordFormats(directory);
  rmSync(`${directory}/hub.keys`, { recursive: true });
}
