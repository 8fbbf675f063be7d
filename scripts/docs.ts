import { readFileSync, writeFileSync } from 'node:fs';
import { specification } from './specification.ts';
import { writtenPages } from './writtenPages.ts';

/** `npm run docs`; with `specification`, prints which tests prove which rule of it, and writes nothing. */
const [what, ...others] = process.argv.slice(2);
if (what === undefined)
  for (const [file, rewritten] of writtenPages) writeFileSync(file, rewritten(readFileSync(file, 'utf8')));
else if (what === 'specification' && others.length === 0) console.log(specification());
else {
  console.error(
    'npm run docs                    rewrites the generated pages\nnpm run docs -- specification   which tests prove which rule',
  );
  process.exitCode = 1;
}
