import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureCertificates } from 'iot-hub-emulator/testing';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { type Certificate, readCertificate, watchCertificate } from '../../src/access/secretFiles.ts';
import { createTroubles } from '../../src/observing/log.ts';
import { secretFiles } from '../../src/settings/constants.ts';
import { recordingLog } from '../support/observed.ts';
import { createSecretVolume, type SecretVolume } from '../support/secretVolume.ts';
import { soon } from '../support/waiting.ts';

// The certificate of the front door: what is refused at the start, and what follows a change of its files (D397).

const directory = folderForAll('certificate');
let one: Certificate;
let other: Certificate;
let volume: SecretVolume;
let files: { readonly tlsCertificateFile: string; readonly tlsKeyFile: string };
beforeAll(async () => {
  const pair = async (name: string) => {
    const { cert, key } = await ensureCertificates(join(directory, name));
    return { cert, key };
  };
  [one, other] = [await pair('one'), await pair('other')];
});
beforeEach(() => {
  const place = join(directory, 'volume');
  rmSync(place, { recursive: true, force: true });
  volume = createSecretVolume(place, { 'tls.crt': one.cert, 'tls.key': one.key });
  files = { tlsCertificateFile: volume.file('tls.crt'), tlsKeyFile: volume.file('tls.key') };
});

const unfit =
  /METHODS_TLS_CERTIFICATE_FILE: is not a PEM certificate, or does not match the key in METHODS_TLS_KEY_FILE \(ERR_/;
const unusable = 'the file of a secret cannot be used: the last value stays';
const usable = 'the file of a secret can be used again';
const another = 'another secret was read from its file, and is in use';

it('without the name of a file there is no certificate', () =>
  expect(readCertificate({ tlsCertificateFile: '', tlsKeyFile: '' })).toBeUndefined());

describe.each<[what: string, put: () => Record<string, string | undefined>, why: RegExp]>([
  ['no certificate', () => ({ 'tls.crt': undefined }), /METHODS_TLS_CERTIFICATE_FILE: cannot be read \(ENOENT\)/],
  ['no key', () => ({ 'tls.key': undefined }), /METHODS_TLS_KEY_FILE: cannot be read \(ENOENT\)/],
  ['the key of another certificate', () => ({ 'tls.key': other.key }), unfit],
  ['a text that is no certificate', () => ({ 'tls.crt': 'text' }), unfit],
])('%s', (_, put, why) => {
  it('is refused at the start', () => {
    expect(readCertificate(files)).toEqual(one);
    volume.put(put());
    expect(() => readCertificate(files)).toThrow(why);
  });

  it('changes nothing later, and is told until there is a pair again', async () => {
    const { used, told } = watch();
    volume.put(put());
    await vi.waitFor(() => expect(told()).toHaveLength(1), soon);
    expect(told()).toEqual([{ level: 'warn', message: unusable, ...fields(), cause: expect.stringMatching(why) }]);
    volume.put({ 'tls.crt': one.cert, 'tls.key': one.key });
    await vi.waitFor(() => expect(told()).toHaveLength(2), soon);
    expect(told()[1]).toMatchObject({ level: 'info', message: usable, ...fields() });
    volume.put({ 'tls.crt': other.cert, 'tls.key': other.key });
    await vi.waitFor(() => expect(used).toEqual([other]), soon);
    expect(told()[2]).toEqual({ level: 'info', message: another, ...fields() });
  });
});

it('each pair is taken once, also one that came between the start and the first look', async () => {
  volume.put({ 'tls.crt': other.cert, 'tls.key': other.key });
  const { used, told } = watch();
  await vi.waitFor(() => expect(used).toEqual([other]), soon);
  volume.put({ 'tls.crt': one.cert, 'tls.key': one.key });
  await vi.waitFor(() => expect(used).toEqual([other, one]), soon);
  expect(told().map(({ message }) => message)).toEqual([another, another]);
});

it('a pair of which only one has changed is taken, too, as a certificate that is renewed for the same key', async () => {
  const { used } = watch();
  const renewed = { cert: `${one.cert}\n`, key: one.key };
  volume.put({ 'tls.crt': renewed.cert });
  await vi.waitFor(() => expect(used).toEqual([renewed]), soon);
  const last = { ...renewed, key: `${one.key}\n` };
  volume.put({ 'tls.key': last.key });
  await vi.waitFor(() => expect(used).toEqual([renewed, last]), soon);
});

it('nothing is watched without a certificate, or after the close', () => {
  vi.useFakeTimers();
  const telling = { log: recordingLog(), troubles: { raise() {}, clear() {}, close() {} } };
  watchCertificate(files, undefined, telling, () => {});
  expect(vi.getTimerCount()).toBe(0);
  watch().close();
  expect(vi.getTimerCount()).toBe(0);
});

const fields = () => ({ setting: 'METHODS_TLS_CERTIFICATE_FILE', file: files.tlsCertificateFile });

function watch() {
  const { lookMs } = secretFiles;
  secretFiles.lookMs = 20;
  const log = recordingLog();
  const troubles = createTroubles(log);
  const used: Certificate[] = [];
  const { close } = watchCertificate(files, one, { log, troubles }, (found) => void used.push(found));
  secretFiles.lookMs = lookMs;
  onTestFinished(() => {
    close();
    troubles.close();
  });
  const told = () => log.lines.map(({ level, message, fields }) => ({ level, message, ...fields }));
  return { used, told, close };
}
