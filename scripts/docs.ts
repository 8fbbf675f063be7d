import { readFileSync, writeFileSync } from 'node:fs';
import { writtenPages } from './writtenPages.ts';

/** `npm run docs` */
for (const [file, rewritten] of writtenPages) writeFileSync(file, rewritten(readFileSync(file, 'utf8')));
