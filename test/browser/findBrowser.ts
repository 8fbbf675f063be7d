import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

export const browserNames = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'] as const;

/** The browser of this machine: that of `BROWSER_PROGRAM`, or the first of the known ones in the path. */
export function findBrowser(): string | undefined {
  const given = process.env['BROWSER_PROGRAM'];
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const candidates = given ? [given] : browserNames.flatMap((name) => folders.map((folder) => join(folder, name)));
  return candidates.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
