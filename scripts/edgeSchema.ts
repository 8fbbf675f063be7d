import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import { schema } from '../edge/src/configuration/schema.ts';

/** The JSON schema of the edge proxy's configuration, for editors. `npm run docs` rewrites it; a test fails when it is behind. */
export const edgeSchemaFile = 'edge/config.schema.json';

export const edgeSchema = (): string => `${JSON.stringify(z.toJSONSchema(schema, { io: 'input' }), undefined, 2)}\n`;

export function writeEdgeSchema(): void {
  writeFileSync(edgeSchemaFile, edgeSchema());
}
