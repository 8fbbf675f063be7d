import { writeFileSync } from 'node:fs';
import { contract } from '../src/methods/openapi.ts';
import { contractPage } from './contractPage.ts';

/** The contract of remote methods as a page. `npm run docs` rewrites it; a test fails when it is behind. */
export const methodsOpenApiFile = 'docs/contracts/methods.openapi.yaml';

export const methodsOpenApi = (): string => contractPage('the schemas of the front door', contract());

export function writeMethodsOpenApi(): void {
  writeFileSync(methodsOpenApiFile, methodsOpenApi());
}
