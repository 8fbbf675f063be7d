import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { type Access, accessOf } from '../../src/access/access.ts';
import { currentOf, isSecret, renewed, whenChanged } from '../../src/access/secretFiles.ts';
import { settingsWith } from '../support/environment.ts';
import { recordingLog } from '../support/observed.ts';
import { createSecretVolume } from '../support/secretVolume.ts';

// By what each client gets in, and that it has the next secret when that in its file was replaced (D365, D397).

const directory = folderForEach('access');
const base64 = (text: string) => Buffer.from(text).toString('base64');
const accountWith = (key: string) =>
  `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${base64(key)};EndpointSuffix=core.windows.net`;
const eventsWith = (key: string) =>
  `Endpoint=sb://hub.example/;SharedAccessKeyName=n;SharedAccessKey=${base64(key)};EntityPath=hub`;
const serviceWith = (key: string) => `HostName=hub.example;SharedAccessKeyName=n;SharedAccessKey=${base64(key)}`;
const plain = (key: string) => `a-secret-of-some-length-${key}`;

const blob = { STORE: 'blob', STORE_CONNECTION_STRING: accountWith('shared') };
const login = { BACKENDS_TOKEN_URL: 'http://token.example', BACKENDS_CLIENT_ID: 'c' };

interface Use {
  readonly variable: string;
  readonly with: (key: string) => string;
  readonly of: (access: Access) => unknown;
  readonly env?: Readonly<Record<string, string>>;
}

const uses: Readonly<Record<string, Use>> = {
  events: { variable: 'HUB_EVENTS_CONNECTION_STRING', with: eventsWith, of: (access) => access.events() },
  replies: { variable: 'HUB_SERVICE_CONNECTION_STRING', with: serviceWith, of: (access) => access.service() },
  'checkpoints in the store': {
    ...{ variable: 'STORE_CONNECTION_STRING', with: accountWith, env: { STORE: 'blob' } },
    of: (access) => access.account('checkpoints'),
  },
  'dead letters in the store': {
    ...{ variable: 'STORE_CONNECTION_STRING', with: accountWith, env: { STORE: 'blob' } },
    of: (access) => access.account('deadLetters'),
  },
  'checkpoints in an account of their own': {
    ...{ variable: 'CHECKPOINTS_CONNECTION_STRING', with: accountWith, env: blob },
    of: (access) => access.account('checkpoints'),
  },
  'dead letters in an account of their own': {
    ...{ variable: 'DEAD_LETTERS_CONNECTION_STRING', with: accountWith, env: blob },
    of: (access) => access.account('deadLetters'),
  },
  'the token of the backends': { variable: 'BACKENDS_TOKEN', with: plain, of: (access) => access.token() },
  'the client secret': {
    ...{ variable: 'BACKENDS_CLIENT_SECRET', with: plain, env: login },
    of: (access) => access.clientSecret(),
  },
  'the admin token': { variable: 'ADMIN_TOKEN', with: plain, of: (access) => access.adminToken() },
};

const token = { BACKENDS_TOKEN: 't' };
const secretIn = (access: unknown) => {
  if (!isSecret(access)) throw new Error('it is no secret');
  return access;
};

it.each(Object.entries(uses))(
  'the secret of %s is the next one as soon as the other side refuses that which was in its file, for all who use it',
  async (_name, { variable, of, env = {}, ...use }) => {
    const volume = createSecretVolume(join(directory, 'volume'), { secret: use.with('1') });
    const elsewhere = variable.startsWith('BACKENDS_') ? env : { ...token, ...env };
    const given: Record<string, string> = { ...elsewhere, [`${variable}_FILE`]: volume.file('secret') };
    if (variable.startsWith('HUB_')) given[variable] = '';
    const access = accessOf(settingsWith(given));
    const [one, other] = [secretIn(of(access)), secretIn(of(access))];
    const changed = vi.fn();
    const end = whenChanged(other, changed);
    expect(currentOf(one)).toBe(use.with('1'));
    volume.put({ secret: use.with('2') });
    expect(await renewed(one, use.with('1'))).toBe(use.with('2'));
    expect([currentOf(other), currentOf(secretIn(of(access))), changed.mock.calls.length]).toEqual([
      ...[use.with('2'), use.with('2'), 1],
    ]);
    end();
    access.close();
  },
);

it('no file is looked at any more when it is closed', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  const volume = createSecretVolume(join(directory, 'volume'), { secret: plain('1') });
  const given = { BACKENDS_TOKEN_FILE: volume.file('secret') };
  const troubles = { raise() {}, clear() {} } as never;
  const access = accessOf(settingsWith(given), { log: recordingLog(), troubles });
  await vi.waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0));
  access.close();
  expect(vi.getTimerCount()).toBe(0);
});
