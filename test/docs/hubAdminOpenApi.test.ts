import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { hubAdminOpenApi, hubAdminOpenApiFile } from '../../scripts/hubAdminOpenApi.ts';

it('iot-hub-emulator/docs/admin.openapi.yaml is up to date: run `npm run docs`', () => {
  expect(readFileSync(hubAdminOpenApiFile, 'utf8')).toBe(hubAdminOpenApi());
});
