import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readArguments } from '../../src/command/options.ts';
import { requestFor } from '../../src/command/remote.ts';
import { UsageError } from '../../src/command/usageError.ts';
import { issueCertificate } from '../../src/identity/issueCertificate.ts';
import { createTokenSigner } from '../../src/identity/tokens.ts';
import { folderForAll } from '../support/fixtures.ts';

const directory = folderForAll('words');
const read = (...args: string[]) => readArguments(args, '/from', '/default');

describe('the options of a hub', () => {
  test('have defaults', () => {
    const hub = { directory: '/default/keys' };
    expect(read()).toMatchObject({ directory: '/default', words: [], json: false, hub });
  });
  test('put keys and data into the directory of --persist', () =>
    expect(read('--persist', 'data')).toMatchObject({
      directory: '/from/data',
      hub: { directory: '/from/data/keys', persist: '/from/data/data' },
    }));
  test('name tier, units, groups, devices and ports', () => {
    const args =
      '--tier S2 --units 3 --methods-at-once 9 --group a --group b --device d1 --mqtts-port 8883 --strict'.split(' ');
    expect(read(...args).hub).toMatchObject({
      rules: { tier: 'S2', units: 3, methodsAtOnce: 9 },
      consumerGroups: ['a', 'b'],
      ...{ devices: [{ deviceId: 'd1' }], ports: { mqtts: 8883, amqp: 0 }, strictProperties: true },
    });
  });
  test('name addresses, and names of which the first is that of the hub', () => {
    writeFileSync(join(directory, 'token'), 'a-token-of-sixteen\n');
    const args = ['--name', 'hub,iothub.local', '--host', '::', '--admin-host', '0.0.0.0', '--end-with-stdin'];
    const asked = read(...args, '--development', '--admin-token', join(directory, 'token'));
    expect(asked).toMatchObject({ endsWithStdin: true, adminToken: 'a-token-of-sixteen' });
    expect(asked.hub).toMatchObject({
      ...{ name: 'hub', hostNames: ['hub', 'iothub.local'], host: '::', adminHost: '0.0.0.0' },
      ...{ adminToken: 'a-token-of-sixteen', development: true },
    });
    expect(read().hub).not.toHaveProperty('host');
  });
  test.each([
    ['--partitions', '0'],
    ['--partitions', '1.5'],
    ['--amqp-port', '65536'],
    ['--retention', 'x'],
    ['--tier', 'S4'],
    ['--route-partitions', '2'],
    ['--script', 'pump.json'],
    ['--admin-token', 'missing'],
    ['--name', 'hub,a b'],
    ['--host', 'hub'],
    ['--admin-host', 'fe80::1%eth0'],
  ])('are refused when they are invalid: %s %s', (...args) => expect(() => read(...args)).toThrow(UsageError));
});

describe('the storage of uploads, and enrichments', () => {
  const storage = 'AccountName=a;AccountKey=a2V5;BlobEndpoint=https://127.0.0.1:10000/a';
  const readWith = (connectionString: string | undefined, ...args: string[]) =>
    readArguments(args, '/', '/', { AZURE_STORAGE_CONNECTION_STRING: connectionString });

  test('are taken from the environment, and from words', () =>
    expect(
      readWith(storage, '--uploads', 'files', '--enrichment', 'hall=$twin.tags.hall', '--enrichment', 'a=b=c').hub,
    ).toMatchObject({
      fileStorage: { connectionString: storage, container: 'files' },
      enrichments: [
        { key: 'hall', value: '$twin.tags.hall' },
        { key: 'a', value: 'b=c' },
      ],
    }));
  test.each([
    ['no account', undefined, '--uploads files', /AZURE_STORAGE_CONNECTION_STRING: .*AccountName=/],
    [
      'an account without an address',
      'AccountName=a;AccountKey=SECRET;BlobEndpoint=a:1',
      '--uploads files',
      /BlobEndpoint/,
    ],
    ['a container of another form', storage, '--uploads My_Files', /--uploads My_Files .*lower-case/],
    ['an enrichment without a value', storage, '--enrichment hall=', /KEY=VALUE, not "hall=".*Quote/],
    ['an enrichment that a shell took apart', storage, '--enrichment hall=.tags.hall', /Quote it/],
    ['an enrichment from another place', storage, '--enrichment hall=$twin.etag', /--enrichment hall: .*\$iothubname/],
  ])('are refused with %s', (_, connectionString, words, why) => {
    expect(() => readWith(connectionString, ...words.split(' '))).toThrow(UsageError);
    expect(() => readWith(connectionString, ...words.split(' '))).toThrow(why);
    expect(() => readWith(connectionString, ...words.split(' '))).not.toThrow(/SECRET/);
  });
});

describe('an authority and a route', () => {
  const file = (content: object) => {
    const path = join(directory, 'authority.json');
    writeFileSync(path, JSON.stringify(content));
    return path;
  };
  const trust = { issuer: 'https://sts.example/', publicKey: createTokenSigner().publicKey };
  const rights = { 'an-object-id': ['messageSend', 'routedListen'] };

  test('are taken from a file, and from the name of an event hub', () => {
    const path = file({ ...trust, rights });
    expect(read('--authority', path, '--route-to', 'routed', '--route-partitions', '2').hub).toMatchObject({
      authority: { ...trust, rights },
      routeTo: { name: 'routed', partitions: 2 },
    });
    expect(read('--route-to', 'routed').hub).toMatchObject({ routeTo: { name: 'routed' } });
  });
  test.each([
    ['without an issuer', { publicKey: trust.publicKey, rights }, /issuer/],
    ['with another key', { ...trust, publicKey: 'none', rights }, /publicKey: is not the PEM of an RSA key/],
    ['with an unknown right', { ...trust, rights: { someone: ['everything'] } }, /rights\.someone/],
  ])('are refused %s', (_, content, why) => {
    const path = file(content);
    expect(() => read('--authority', path)).toThrow(UsageError);
    expect(() => read('--authority', path)).toThrow(why);
  });
  test('are refused when the file is not there', () =>
    expect(() => read('--authority', join(directory, 'none'))).toThrow(/--authority .*ENOENT/));
});

describe('a command', () => {
  const get = (path: string) => ({ method: 'GET', path });
  const remove = (path: string) => ({ method: 'DELETE', path });
  const post = (path: string, body?: object) => ({ method: 'POST', path, ...(body && { body }) });
  test.each([
    ['devices', get('/devices')],
    ['devices add d/1 KEY', post('/devices', { deviceId: 'd/1', primaryKey: 'KEY' })],
    [
      'devices add d/1 authority',
      post('/devices', { deviceId: 'd/1', authentication: { type: 'certificateAuthority' } }),
    ],
    ['certificates', get('/certificates')],
    ['certificates code a/b', post('/certificates/a%2Fb/generateVerificationCode')],
    ['certificates remove a/b', remove('/certificates/a%2Fb')],
    ['devices show d/1', get('/devices/d%2F1')],
    ['devices remove d/1', remove('/devices/d%2F1')],
    ['policies renew service', post('/policies/service/keys', {})],
    ['policies renew a/b secondaryKey', post('/policies/a%2Fb/keys', { key: 'secondaryKey' })],
    [
      'devices send d/1 hello messageId=m1 properties.a=b',
      post('/devices/d%2F1/messages', { body: 'hello', messageId: 'm1', properties: { a: 'b' } }),
    ],
    ['connections', get('/connections')],
    ['faults clear', remove('/faults')],
    ['faults clear 7', remove('/faults/7')],
    ['counters', get('/counters')],
    ['journal deviceId=d1 since=4', get('/journal?deviceId=d1&since=4')],
  ])('%s is this request', (words, request) => expect(requestFor(words.split(' '))).toEqual(request));
  test('reads certificates from files', async () => {
    const [own, next] = await Promise.all(
      ['own', 'next'].map(async (name) => {
        const { cert } = await issueCertificate({ name, role: 'client' });
        writeFileSync(join(directory, `${name}.pem`), cert);
        return { cert, thumbprint: new X509Certificate(cert).fingerprint256.replaceAll(':', '') };
      }),
    );
    const bodyOf = (words: string) => requestFor(words.split(' '), directory).body;
    const [primaryThumbprint, secondaryThumbprint] = [own?.thumbprint, next?.thumbprint];
    expect(bodyOf('devices add d certificate=own.pem certificate=next.pem')).toEqual({
      deviceId: 'd',
      authentication: { type: 'selfSigned', primaryThumbprint, secondaryThumbprint },
    });
    const certificate = own?.cert;
    expect(bodyOf('certificates add ca own.pem')).toEqual({ name: 'ca', certificate, isVerified: false });
    expect(bodyOf('certificates add ca own.pem verified')).toEqual({ name: 'ca', certificate, isVerified: true });
    expect(bodyOf('certificates verify ca own.pem')).toEqual({ certificate });
    writeFileSync(join(directory, 'none.pem'), 'none');
    expect(() => bodyOf('devices add d certificate=none.pem')).toThrow(/none\.pem is no certificate/);
    expect(() => bodyOf('certificates add ca missing.pem')).toThrow(/missing\.pem cannot be read: ENOENT/);
  });
  test('sends numbers, booleans, texts and properties of a fault with their types', () => {
    const words =
      'faults add burst events=5 partition=0 errorCode=429001 closed=false effect=true properties.a=1 properties.b=x=y';
    expect(requestFor(words.split(' ')).body).toEqual({
      ...{ kind: 'burst', events: 5, partition: '0', errorCode: 429001, closed: false, effect: true },
      properties: { a: '1', b: 'x=y' },
    });
  });
  test.each([
    ...['dance', 'devices add', 'devices dance', 'devices send d1', 'policies renew', 'certificates add'],
    ...['certificates add ca', 'certificates code', 'certificates verify ca', 'certificates remove', 'faults add'],
    'faults add drop how',
    'journal x',
  ])('that does not exist is refused: %s', (words) => expect(() => requestFor(words.split(' '))).toThrow(UsageError));
});
