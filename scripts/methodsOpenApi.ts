import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { contract } from '../src/methods/openapi.ts';

/** The contract of remote methods as a page. `npm run docs` rewrites it; a test fails when it is behind. */
export const methodsOpenApiFile = 'docs/contracts/methods.openapi.yaml';

export const methodsOpenApi = (): string =>
  `# Written by \`npm run docs\` from the schemas of the front door.\n${stringify(contract(), { lineWidth: 120, blockQuote: 'literal', aliasDuplicateObjects: false })}`;

if (process.argv[1] === import.meta.filename) writeFileSync(methodsOpenApiFile, methodsOpenApi());
