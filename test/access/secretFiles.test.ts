import { join } from 'node:path';
import { tunnelTo, useProxies } from '@device-messaging/telemetry/outbound.ts';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { accessOf } from '../../src/access/access.ts';
import { useNetwork } from '../../src/access/network.ts';
import { derivedFrom, openSecretFiles } from '../../src/access/secretFiles.ts';
import { createTroubles } from '../../src/observing/log.ts';
import { readSettings, type Settings } from '../../src/settings/config.ts';
import { secretFiles } from '../../src/settings/constants.ts';
import { addSecret, secretsOf } from '../../src/settings/secrets.ts';
import { recordingLog } from '../support/observed.ts';
import { createSecretVolume, type SecretVolume } from '../support/secretVolume.ts';
import { soon } from '../support/waiting.ts';

// Files of secrets are read again when they change, and when the other side refuses what they had (D397).

const key = 'bm90LWEtcmVhbC1rZXk=';
const path = 'hub.serviceConnectionString';
const withKey = (one: string) => `HostName=hub.example;SharedAccessKeyName=n;SharedAccessKey=${one}`;
const others = {
  HUB_EVENTS_CONNECTION_STRING: `Endpoint=sb://hub.example/;SharedAccessKeyName=n;SharedAccessKey=${key};EntityPath=hub`,
  INFORMATION_MODEL_URL: 'https://im.example',
  TYPE_REGISTRY_URL: 'https://tr.example',
  PRINCIPAL_MANAGER_URL: 'https://pm.example',
};

const directory = folderForEach('secrets');
let volume: SecretVolume;
let settings: Settings;
beforeEach(() => {
  volume = createSecretVolume(join(directory, 'volume'), { service: withKey(key), token: 't0ken' });
  const env = { HUB_SERVICE_CONNECTION_STRING_FILE: volume.file('service'), BACKENDS_TOKEN_FILE: volume.file('token') };
  settings = readSettings({ ...others, ...env }, directory);
});

function open(lookMs: number) {
  const { lookMs: usualMs } = secretFiles;
  secretFiles.lookMs = lookMs;
  const log = recordingLog();
  const troubles = createTroubles(log);
  const files = openSecretFiles(settings, { log, troubles });
  secretFiles.lookMs = usualMs;
  onTestFinished(() => {
    files.close();
    troubles.close();
  });
  const service = files.of(path);
  if (service === undefined) throw new Error('the secret is in a file');
  const told = (level?: string) =>
    log.lines.flatMap(({ message, fields, ...line }) =>
      level === undefined || line.level === level ? [{ message, ...fields }] : [],
    );
  return { files, service, told };
}

const never = 3_600_000;
const often = 20;

describe('a secret in a file', () => {
  it('is followed when the folder is replaced, and its users are told once for each change', async () => {
    const { service, told, files } = open(often);
    const changes: string[] = [];
    service.onChange(() => void changes.push(service.current()));
    volume.put({ service: withKey('bmV4dA==') });
    await vi.waitFor(() => expect(changes).toEqual([withKey('bmV4dA==')]), soon);
    volume.put({ service: withKey('bGFzdA==') });
    await vi.waitFor(() => expect(changes).toEqual([withKey('bmV4dA=='), withKey('bGFzdA==')]), soon);
    expect(files.of('backends.token')?.current()).toBe('t0ken');
    const line = {
      message: 'another secret was read from its file, and is in use',
      ...{ setting: 'HUB_SERVICE_CONNECTION_STRING_FILE', file: volume.file('service') },
    };
    expect(told()).toEqual([line, line]);
  });

  it('that has changed between the start and the first look is found, too', async () => {
    volume.put({ service: withKey('bmV4dA==') });
    const { service } = open(often);
    await vi.waitFor(() => expect(service.current()).toBe(withKey('bmV4dA==')), soon);
  });

  it.each<[string, string | undefined, RegExp]>([
    ['is missing', undefined, /cannot be read \(ENOENT\)/],
    ['is empty', '', /is empty/],
    ['has only a part', 'HostName=hub.example', /SharedAccessKeyName, SharedAccessKey missing/],
    ['is for another hub', withKey(key).replace('hub.', 'other.'), /another place than at the start/],
  ])('stays as it was while its file %s; a trouble says so until it is well', async (_, content, why) => {
    const { service, told } = open(often);
    volume.put({ service: content });
    await vi.waitFor(() => expect(told('warn')).toHaveLength(1), soon);
    expect(told()).toEqual([
      expect.objectContaining({
        message: 'the file of a secret cannot be used: the last value stays',
        setting: 'HUB_SERVICE_CONNECTION_STRING_FILE',
        cause: expect.stringMatching(why),
      }),
    ]);
    expect(service.current()).toBe(withKey(key));
    volume.put({ service: withKey('bmV4dA==') });
    await vi.waitFor(() => expect(service.current()).toBe(withKey('bmV4dA==')), soon);
    expect(told('info')).toEqual([
      expect.objectContaining({ message: 'the file of a secret can be used again', times: expect.any(Number) }),
      expect.objectContaining({ message: 'another secret was read from its file, and is in use' }),
    ]);
    expect(JSON.stringify(told())).not.toContain(key);
  });
});

describe('a secret that the other side refuses', () => {
  it('is read again at a refusal a second after the last, and not before', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { service } = open(never);
    await service.renew(withKey(key));
    volume.put({ service: withKey('bmV4dA==') });
    vi.advanceTimersByTime(999);
    expect(await service.renew(withKey(key))).toBe(withKey(key));
    vi.advanceTimersByTime(1);
    expect(await service.renew(withKey(key))).toBe(withKey('bmV4dA=='));
  });

  it('is the one that is there when two are told of a refusal at once, and the first of them changes it', async () => {
    const { service } = open(never);
    volume.put({ service: withKey('bmV4dA==') });
    const both = await Promise.all([service.renew(withKey(key)), service.renew(withKey(key))]);
    expect(both).toEqual([withKey('bmV4dA=='), withKey('bmV4dA==')]);
  });

  it('is not read when there is another one already', async () => {
    const { service } = open(never);
    volume.put({ service: withKey('bmV4dA==') });
    await service.renew(withKey(key));
    volume.put({ service: undefined });
    expect(await service.renew('an earlier one')).toBe(withKey('bmV4dA=='));
  });

  it('stays when its file is missing', async () => {
    const { service, told } = open(never);
    volume.put({ service: undefined });
    expect(await service.renew(withKey(key))).toBe(withKey(key));
    expect(told('warn')).toHaveLength(1);
  });

  it('is read in a command, too, which looks at no file by itself', async () => {
    const service = openSecretFiles(settings).of(path);
    volume.put({ service: withKey('bmV4dA==') });
    expect(await service?.renew(withKey(key))).toBe(withKey('bmV4dA=='));
  });
});

it('all secrets that there were stay out of what leaves the program', async () => {
  const before = secretsOf(settings);
  expect(secretsOf(settings)).toBe(before);
  const { service } = open(never);
  volume.put({ service: withKey('bmV4dCBzZWNyZXQ=') });
  await service.renew(withKey(key));
  expect(secretsOf(settings)).toEqual([...before, 'bmV4dCBzZWNyZXQ=']);
  expect(secretsOf(settings)).toBe(secretsOf(settings));
});

it('of very many secrets, the first and the newest stay out of what leaves the program', () => {
  const many = structuredClone(settings);
  const first = secretsOf(many);
  for (let number = 0; number < 150; number += 1) addSecret(many, path, withKey(`key-${number}`));
  const newest = Array.from({ length: 100 }, (_, index) => `key-${index + 50}`);
  expect(secretsOf(many)).toEqual([...first, ...newest]);
});

it('what is in no file is fixed', () =>
  expect(openSecretFiles(settings).of('hub.eventsConnectionString')).toBe(undefined));

it('a proxy in a file is followed by the connections that begin after a change, and its passwords are secret', async () => {
  const proxy = (password: string) => `http://user:${password}@proxy.example:3128`;
  const proxies = createSecretVolume(join(directory, 'proxies'), { proxy: proxy('0ld-pa55word') });
  const env = {
    HUB_SERVICE_CONNECTION_STRING_FILE: volume.file('service'),
    HTTPS_PROXY_FILE: proxies.file('proxy'),
    HUB_TRANSPORT: 'websockets',
  };
  settings = readSettings({ ...others, ...env, BACKENDS_TOKEN: 't0ken' }, directory);
  const log = recordingLog();
  const troubles = createTroubles(log);
  useNetwork(settings);
  const { lookMs: usualMs } = secretFiles;
  secretFiles.lookMs = often;
  const access = accessOf(settings, { log, troubles });
  secretFiles.lookMs = usualMs;
  onTestFinished(() => {
    access.close();
    troubles.close();
    useProxies({ https: '', http: '', except: '' });
  });
  const wayTo = () => tunnelTo(new URL('https://hub.example'))?.proxy.href;
  expect(wayTo()).toContain('0ld-pa55word');
  proxies.put({ proxy: proxy('next-pa55word') });
  await vi.waitFor(() => expect(wayTo()).toContain('next-pa55word'), soon);
  expect(secretsOf(settings)).toEqual(expect.arrayContaining(['0ld-pa55word', 'next-pa55word']));
});

it('a secret that is made of another one changes with it, until its user does not listen any more', async () => {
  const { service } = open(never);
  const made = derivedFrom(service, (text) => `of ${text}`);
  if (typeof made === 'string') throw new Error('the secret is in a file');
  const changes: string[] = [];
  const end = made.onChange(() => void changes.push(made.current()));
  volume.put({ service: withKey('bmV4dA==') });
  expect(await made.renew(`of ${withKey(key)}`)).toBe(`of ${withKey('bmV4dA==')}`);
  expect(await made.renew('an older one')).toBe(`of ${withKey('bmV4dA==')}`);
  expect(changes).toEqual([`of ${withKey('bmV4dA==')}`]);
  end();
  volume.put({ service: withKey('bGFzdA==') });
  await vi.waitFor(async () => expect(await service.renew(withKey('bmV4dA=='))).toBe(withKey('bGFzdA==')), soon);
  expect([changes.length, derivedFrom('fixed', (text) => `of ${text}`)]).toEqual([1, 'of fixed']);
});
