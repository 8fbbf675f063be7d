import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { schema } from '../edge/src/configuration/schema.ts';
import { alertPages, ruleFiles } from './alertTables.ts';
import { asyncApiDocument, asyncApiFile } from './asyncapi.ts';
import { backendsPage } from './backendsPage.ts';
import { hubAdminOpenApi } from './hubAdminOpenApi.ts';
import { hubFactsPage, hubReliancesPage } from './hubFactsPage.ts';
import { messagePages } from './messagePages.ts';
import { withMetrics } from './metricsPage.ts';
import { withTables as withFigures } from './performancePage.ts';
import { envExample, settingsPage, withRequiredSettings } from './settingsPages.ts';
import { withTables as withSizes } from './sizingPage.ts';

const whole = (files: Readonly<Record<string, string>>) =>
  Object.entries(files).map(([file, text]) => [file, () => text] as const);

const json = (value: object) => `${JSON.stringify(value, undefined, 2)}\n`;

/** Pages, contracts and alerts, and what makes them of what they were. `npm run docs` rewrites them; a test fails when one is behind. */
export const writtenPages: readonly (readonly [file: string, rewritten: (page: string) => string])[] = [
  ['README.md', withRequiredSettings],
  ['docs/settings.md', settingsPage],
  ['.env.example', envExample],
  ...Object.entries(messagePages),
  [asyncApiFile, asyncApiDocument],
  ['src/methods/openapi.json', () => json(parse(readFileSync('docs/contracts/methods.openapi.yaml', 'utf8')))],
  ['iot-hub-emulator/docs/admin.openapi.yaml', hubAdminOpenApi],
  ['iot-hub-emulator/docs/facts.md', hubFactsPage],
  ['docs/maintainers/hub-facts.md', hubReliancesPage],
  // For editors.
  ['edge/config.schema.json', () => json(z.toJSONSchema(schema, { io: 'input' }))],
  ['docs/metrics.md', withMetrics],
  ...Object.entries(alertPages),
  ...whole(ruleFiles),
  ['docs/backends.md', backendsPage],
  ['docs/maintainers/performance.md', withFigures],
  ['docs/sizing.md', withSizes],
];
