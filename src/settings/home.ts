import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of `package.json` and `config`: the nearest one above this module, which is deeper in the sources than in a build. */
export const home = (() => {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
})();
