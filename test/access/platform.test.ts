import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { missingOfPlatform } from '../../src/access/identity.ts';
import { platformCredential } from '../../src/access/platform.ts';
import { settings } from '../support/environment.ts';

const { identity } = settings;
const directory = folderForAll('platform');

describe('the variables of a workload', () => {
  const file = join(directory, 'token');
  beforeAll(() => writeFileSync(file, 'projected'));
  const all = { AZURE_TENANT_ID: 't', AZURE_CLIENT_ID: 'c', AZURE_FEDERATED_TOKEN_FILE: file };
  const workload = { ...identity, kind: 'workload' };

  it('are complete, or named one by one', () => {
    expect(missingOfPlatform(workload, all)).toEqual([]);
    expect(missingOfPlatform(workload, {})).toEqual([
      expect.stringContaining('needs AZURE_TENANT_ID'),
      expect.stringContaining('needs AZURE_FEDERATED_TOKEN_FILE'),
      expect.stringContaining('needs AZURE_CLIENT_ID'),
    ]);
  });

  it('need no client id beside that of the settings', () => {
    const { AZURE_CLIENT_ID: _, ...others } = all;
    expect(missingOfPlatform({ ...workload, clientId: 'own' }, others)).toEqual([]);
  });

  it('name a file that can be read and has a token', () => {
    const empty = join(directory, 'empty');
    writeFileSync(empty, '\n');
    for (const AZURE_FEDERATED_TOKEN_FILE of [empty, join(directory, 'missing')])
      expect(missingOfPlatform(workload, { ...all, AZURE_FEDERATED_TOKEN_FILE })).toEqual([
        expect.stringContaining('cannot be read, or is empty'),
      ]);
  });

  it('concern no other identity', () => expect(missingOfPlatform({ ...identity, kind: 'managed' }, {})).toEqual([]));
});

it('a developer has the tokens of the Azure CLI', async () => {
  const answer = { accessToken: 'token-of-az', expires_on: Math.floor(Date.now() / 1000) + 3600, tokenType: 'Bearer' };
  const az = join(directory, 'az');
  writeFileSync(az, `#!/bin/sh\necho '${JSON.stringify(answer)}'\n`);
  chmodSync(az, 0o755);
  vi.stubEnv('PATH', `${directory}${delimiter}${process.env['PATH']}`);
  const token = await platformCredential({ ...identity, kind: 'developer' }).getToken('https://hub.example/.default');
  expect(token?.token).toBe('token-of-az');
});
