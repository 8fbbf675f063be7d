import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Issued, issueCertificate } from 'iot-hub-emulator/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../edge/src/configuration/checks.ts';
import { readJsonWithComments } from '../../edge/src/configuration/jsonWithComments.ts';
import { parseConfiguration, readConfiguration } from '../../edge/src/configuration/read.ts';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { busObject, pressObject } from './support/testProxy.ts';

const edgeSchema = async () => JSON.parse(await readFile('edge/config.schema.json', 'utf8'));
const connectionString = 'HostName=h;DeviceId=d;SharedAccessKey=a2V5';

const press = { id: 'press', objectIds: [pressObject], topics_methods_in: 'press/in', topics_methods_out: 'press/out' };
const bus = { id: 'bus', topics_methods_in: 'bus/in', topics_methods_out: 'bus/out', gateway: { targets: ['bus'] } };
const good = { hub: { connectionString }, broker: { url: 'mqtt://localhost:1883' }, modules: [press, bus] };

function problemsOf(text: string): readonly string[] {
  try {
    parseConfiguration(text);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}
const withoutLine = (problem: string) => problem.replace(/^line \d+: /, '');
const having = (change: object) => JSON.stringify({ ...good, ...change });
const withModules = (...modules: object[]) => having({ modules });
const withPress = (change: object, ...others: object[]) => withModules({ ...press, ...change }, ...others);
const withBus = (change: object) => withModules(press, { ...bus, ...change });
const withTopic = (topic: string) => withPress({ topics_methods_in: topic });
const withHub = (change: object) => having({ hub: { connectionString, ...change } });
const withBroker = (change: object) => having({ broker: { ...good.broker, ...change } });
const noTopic = 'modules[0].topics_methods_in: must be a topic: ';

describe('a configuration', () => {
  it('has defaults for optional settings', () =>
    expect(parseConfiguration(JSON.stringify(good)).file).toMatchObject({
      files: { hosts: [], atOnce: 4, loopbackHttp: false },
      limits: { inFlight: 200, inFlightPerModule: 100, drainSeconds: 25 },
      health: { host: '0.0.0.0', port: 8080 },
      log: { level: 'info' },
    }));

  it.each<[problem: string, text: string]>([
    ['modules[0].topics_methods_in: must not contain the wildcards + or #', withPress({ topics_methods_in: '+' }, bus)],
    ['modules[0].topics_methods_out: must not contain the wildcards + or #', withPress({ topics_methods_out: '#' })],
    [noTopic, withTopic('$SYS/in')],
    [noTopic, withTopic('press//in')],
    [noTopic, withTopic('press/')],
    [noTopic, withTopic('a\u0000b')],
    [noTopic, withTopic('ü'.repeat(257))],
    [
      'modules[0].topics_methods_out: the topic is the same as modules[0].',
      withPress({ topics_methods_out: 'press/in' }),
    ],
    [
      'modules[0].topics_methods_in: the topic is below modules[1].topics_methods_in',
      withPress({ topics_methods_in: 'bus/in/x' }, bus),
    ],
    [
      `modules[1].gateway.objectIds[0]: the object id "${pressObject}" is already used in modules[0].objectIds[0]`,
      withBus({ gateway: { objectIds: [pressObject.toUpperCase()] } }),
    ],
    [
      'modules[1].gateway.targets[1]: the target "bus" is already used in modules[1].gateway.targets[0]',
      withBus({ gateway: { targets: ['bus', 'bus'] } }),
    ],
    [
      'modules[1].identity: the identity "a/b" is already used in modules[0].identity',
      withPress({ objectIds: [], identity: 'a/b' }, { ...bus, gateway: { targets: ['a/b'] }, identity: 'a/b' }),
    ],
    ['modules[0]: only one of objectIds and identity is allowed', withPress({ identity: 'press' })],
    ['modules[0].identity: must be a path: ', withPress({ objectIds: [], identity: '/a' })],
    ['modules[0].gateway.targets[0]: must be a path: ', withModules({ ...bus, gateway: { targets: ['bus//a'] } })],
    ['modules[1].id: the id "press" is already used in modules[0].id', withBus({ id: 'press' })],
    [
      'modules[1].files.folder: the folder "/f" is already used in modules[0].files.folder',
      withModules({ ...press, files: { folder: '/f' } }, { ...bus, files: { folder: '/f//' } }),
    ],
    ['modules[0]: no invocation can reach it: ', withPress({ objectIds: [] })],
    ['modules: must have at least one module', withModules()],
    ['modules[0].objectIds[1]: must be a GUID', withPress({ objectIds: [busObject, 'motor'] })],
    ['modules[0].files.mode: must be a file mode', withPress({ files: { folder: '/f', mode: '9' } })],
    ['modules[0].objectsIds: is not a setting', withPress({ objectsIds: [] })],
    ['hub: is missing', having({ hub: undefined })],
    ['hub: exactly one of connectionString and connectionStringFile is required', having({ hub: {} })],
    ['hub: exactly one of connectionString and connectionStringFile is', withHub({ connectionStringFile: 'x' })],
    ['hub: certificateFile and keyFile require each other', withHub({ certificateFile: 'x' })],
    ['hub.connectionString: must be a string', withHub({ connectionString: 7 })],
    ['limits.inFlight: must be a whole number from 1 to 10000', having({ limits: { inFlight: '5' } })],
    ['broker.clientId: Too big: expected string to have <=65 characters', withBroker({ clientId: 'x'.repeat(66) })],
    ['limits: must be an object', having({ limits: [] })],
    ['health.port: must be a whole number from 0 to 65535', having({ health: { port: 70_000 } })],
    [
      'limits.inFlightPerModule: must not be more than limits.inFlight',
      having({ limits: { inFlight: 5, inFlightPerModule: 6 } }),
    ],
    ['broker.url: must be mqtt://host:port', withBroker({ url: 'mqtt://a:b@localhost' })],
    ['broker.url: must be mqtt://host:port', withBroker({ url: 'http://localhost' })],
    ['broker.username: is required with a password', withBroker({ password: 'x' })],
    ['broker: certificateFile and keyFile require each other', withBroker({ certificateFile: 'x' })],
    ['files.hosts[0]: must be a host', having({ files: { hosts: ['https://a.net/'] } })],
    ['log.level: must be debug, info, warn or error', having({ log: { level: 'loud' } })],
    [
      'broker: only one of password and passwordFile is allowed',
      withBroker({ username: 'u', password: 'x', passwordFile: 'x' }),
    ],
    ['broker.username: is required with a password', withBroker({ passwordFile: 'x' })],
    ['broker.url: must be mqtt://host:port', withBroker({ url: 'mqtt://localhost/x' })],
    ['broker.url: must be mqtt://host:port', withBroker({ url: 'xmqtt://h' })],
    ['broker.url: must be mqtt://', withBroker({ url: 'mqtt://h:70000' })],
    [noTopic, withTopic('a\ufdd0')],
    [noTopic, withTopic('a\ud800')],
    ...['.', '..', 'a/..', 'a/./b', 'a/', 'a\u0000'].map((identity): [string, string] => [
      'modules[0].identity: must be a path: ',
      withPress({ objectIds: [], identity }),
    ]),
    ['the file: must be an object', '[]'],
  ])('with a fault names the place: %s {S24.3}', (expected, text) =>
    expect(problemsOf(text).map((problem) => withoutLine(problem).slice(0, expected.length))).toContain(expected),
  );

  it('may have a module that owns an identity, the device itself included, and a gateway of the same path', () => {
    const owner = (id: string, identity: string) => ({
      ...{ id, identity, topics_methods_in: `${id}/in`, topics_methods_out: `${id}/out` },
    });
    expect(problemsOf(withModules(owner('a', 'bus'), owner('b', ''), bus))).toEqual([]);
  });

  it.each<[string, object, RegExp]>([
    ['in a value', { ...press, topics_methods_in: '#' }, /^line 20: modules\[0\].topics_methods_in: must not/],
    ['between values', { ...press, topics_methods_out: 'press/in' }, /^line 21: modules\[0\].topics_methods_out: the/],
    ['in what is missing', { ...press, id: undefined }, /^line 15: modules\[0\].id: is missing/],
    ['in a misspelt name', { ...press, names: [] }, /^line 22: modules\[0\].names: is not a setting/],
  ])('with a fault %s names the line', (_, module, expected) => {
    const all = { log: { level: 'info' }, limits: {}, files: {}, health: {}, ...good, modules: [module] };
    expect(problemsOf(JSON.stringify(all, undefined, 1))).toEqual([expect.stringMatching(expected)]);
  });

  it.each(['"secret"', '123456', '-1'])('never quotes a value: %s', (value) => {
    for (const text of [`{"broker": ${value} ${value}}`, `{${value} ${value}`, `{"a": 1 ${value}`, `[1] ${value}`])
      expect(problemsOf(text).join()).not.toContain(value.replaceAll('"', ''));
  });

  it.each<[string, string]>([
    ['a topic of 512 bytes', withModules({ ...press, topics_methods_in: `/${'ü'.repeat(255)}x` })],
    ['as many invocations for one module as in all', having({ limits: { inFlight: 5, inFlightPerModule: 5 } })],
    ['a password with its user name', having({ broker: { ...good.broker, username: 'u', password: 'x' } })],
    ['a broker over TLS, without a port', having({ broker: { url: 'mqtts://a.net' } })],
    ['a module without files, and one with a folder', withModules(press, { ...bus, files: { folder: '/f' } })],
    ['two folders', withPress({ files: { folder: '/f/a' } }, { ...bus, files: { folder: '/f//a' } })],
    [
      'a gateway of as many objects as it owns, and one of as many as targets',
      withModules(
        { ...press, gateway: { objectIds: [busObject] } },
        { ...bus, gateway: { objectIds: [busObject.replace('0', '1')], targets: ['bus'] } },
      ),
    ],
    ['a gateway of objects only', withModules({ ...bus, gateway: { objectIds: [busObject] } })],
    ['topics that begin alike', withModules({ ...press, topics_methods_in: 'a/in', topics_methods_out: 'a/inner' })],
    ['the identity of a path', withModules({ ...press, objectIds: [], identity: 'a.b/..c/d' })],
  ])('may have %s', (_, text) => expect(problemsOf(text)).toEqual([]));

  it('names what is below another topic, however many there are', () => {
    const nested = { ...press, topics_methods_in: 'a/b/c', topics_methods_out: 'a/b' };
    const above = { ...bus, topics_methods_in: 'a', topics_methods_out: 'a' };
    expect(problemsOf(withModules(nested, above)).map(withoutLine)).toEqual([
      'modules[1].topics_methods_out: the topic is the same as modules[1].topics_methods_in',
      'modules[0].topics_methods_out: the topic is below modules[1].topics_methods_in',
      'modules[0].topics_methods_in: the topic is below modules[1].topics_methods_in',
    ]);
  });

  it('reports all problems at once', () =>
    expect(problemsOf(having({ broker: { url: '' }, log: { level: '' }, more: 1 }))).toHaveLength(3));
});

describe('JSON with comments', () => {
  it('is read as JSON, with line comments, block comments and trailing commas', () => {
    const text = '// a\n{ /* b\n */ "a//b": ["/* no */", 1.5e3, -0, true, null, "\\u00e9\\"",], }\n// end';
    expect(readJsonWithComments(text).value).toEqual({ 'a//b': ['/* no */', 1500, -0, true, null, 'é"'] });
  });

  it('knows the line of each value, and of the nearest one around what is missing', () => {
    const { lineOf } = readJsonWithComments('// a\n{\n"a": [\n1, /*\n*/ {\n"b":\n2}]\n,"c": {"d": 1}}');
    const places = ['', 'a', 'a[0]', 'a[1]', 'a[1].b', 'a[1].x', 'a[7]', 'a[1].b[3].y', 'c.d', 'x', 'x.y[1]'];
    expect(places.map(lineOf)).toEqual([2, 3, 4, 5, 6, 5, 3, 6, 8, 2, 2]);
  });

  it('may be nested 64 levels deep', () => {
    for (const [open, close] of Object.entries({ '[': ']', '{"a":': '}' }))
      expect(() => readJsonWithComments(`${open.repeat(64)}1${close.repeat(64)}`)).not.toThrow();
  });
  it('may have brackets within strings', () =>
    expect(readJsonWithComments('["]", "a:", ",", "}"]').value).toEqual([']', 'a:', ',', '}']));
  it('keeps a member named __proto__', () =>
    expect(Object.keys(readJsonWithComments('{"__proto__": {"x": 1}}').value as object)).toEqual(['__proto__']));

  it.each([
    ['', 'line 1: expected a value, found the end of the file'],
    ['{\n"a": 1\n"b": 2}', 'line 3: expected , or }, found a string'],
    ['{\n"a" 1}', 'line 2: expected :, found a number'],
    ['{\n\n"a": }', 'line 3: expected a value, found }'],
    ['{"a": [1,\n2', 'line 2: expected , or ], found the end of the file'],
    ['{a: 1}', 'line 1: unexpected "a"'],
    ['{"a": 01}', 'line 1: unexpected "0"'],
    ['{"a": "x\ny"}', 'line 1: unexpected "\\""'],
    ['{} // a\n{}', 'line 2: expected the end of the file, found {'],
    ['{"a": 1,\n "b": 2,\n "a": 3}', 'line 3: duplicate name "a"'],
    ['[,]', 'line 1: expected a value, found ,'],
    ['{1: 2}', 'line 1: expected a name in quotes, found a number'],
    ['/* {}', 'line 1: unexpected "/"'],
    ['['.repeat(66), 'line 1: nested more than 64 levels deep'],
    ['{"a":'.repeat(66), 'line 1: nested more than 64 levels deep'],
    ['{true: 1}', 'line 1: expected a name in quotes, found true'],
    ['{"a": -1 -1}', 'line 1: expected , or }, found a number'],
  ])('%j is refused with the line', (text, sentence) => expect(() => readJsonWithComments(text)).toThrow(sentence));
});

describe('the configuration file', () => {
  const folder = folderForAll('edge');
  const read = async (value: unknown) => {
    const file = join(folder, 'config.jsonc');
    await writeFile(file, JSON.stringify(value));
    return readConfiguration(file);
  };

  it('may name files with its secrets', async () => {
    await writeFile(join(folder, 'hub'), `${connectionString}\n`);
    await writeFile(join(folder, 'broker'), ' secret \n');
    const named = { ...good.broker, username: 'u', passwordFile: 'broker' };
    const given = { ...good, hub: { connectionStringFile: 'hub' }, broker: named };
    const { hub, broker } = await read(given);
    expect(hub).toEqual({ connectionString, webSockets: false });
    expect(broker).toEqual({ url: good.broker.url, username: 'u', password: ' secret ' });
  });

  it('is read with the files that it names, by paths relative to its folder', async () => {
    const names = ['hub-ca', 'network-ca', 'ca', 'cert', 'key', 'files-ca'];
    for (const name of names) await writeFile(join(folder, name), `content of ${name}\n`);
    await writeFile(join(folder, 'secret'), 'one\r\ntwo\r\n');
    const content = (name: string) => `content of ${name}\n`;
    const given = {
      hub: { connectionString: ` ${connectionString}\n`, caFile: 'hub-ca' },
      network: { caFile: join(folder, 'network-ca') },
      broker: {
        ...{ url: 'mqtts://h', username: 'u', passwordFile: 'secret', clientId: 'c' },
        ...{ caFile: 'ca', certificateFile: 'cert', keyFile: 'key' },
      },
      modules: [press, { ...bus, files: { folder: 'bus' } }],
      files: { hosts: ['a.net'], atOnce: 2, loopbackHttp: true, caFile: 'files-ca' },
    };
    expect(await read(given)).toMatchObject({
      hub: { connectionString, ca: content('hub-ca'), webSockets: false },
      network: { ca: content('network-ca') },
      broker: {
        ...{ url: 'mqtts://h', username: 'u', password: 'one\r\ntwo', clientId: 'c' },
        ...{ ca: content('ca'), certificate: content('cert'), key: content('key') },
      },
      modules: [press, { ...bus, files: { folder: join(folder, 'bus'), quotaBytes: 1_073_741_824, mode: '0640' } }],
      files: { hosts: ['a.net'], atOnce: 2, loopbackHttp: true, ca: content('files-ca') },
    });
    const { modules } = await read(given);
    expect(modules[0]).not.toHaveProperty('files');
  });

  it('names each missing file', async () => {
    const [certificateFile, keyFile, caFile] = ['none', 'none', 'none'];
    const three = { certificateFile, keyFile, caFile };
    const reading = read({
      ...{ hub: { connectionString, ...three }, network: { caFile }, files: { caFile } },
      ...{ broker: { ...good.broker, ...three }, modules: [press] },
    });
    await expect(reading).rejects.toMatchObject({
      problems: [
        ...['hub.caFile', 'hub.certificateFile', 'hub.keyFile', 'network.caFile'],
        ...['broker.caFile', 'broker.certificateFile', 'broker.keyFile', 'files.caFile'],
      ].map((place) => `line 1: ${place}: none cannot be read: ENOENT`),
    });
    await expect(reading).rejects.toThrow(/^line 1: hub.caFile: none cannot be read: ENOENT\nline 1: hub.cert/);
  });

  it('that is no JSON names the line', async () => {
    await writeFile(join(folder, 'broken'), '{\n]');
    const expected = { name: 'ConfigurationError', problems: ['line 2: expected a name in quotes, found ]'] };
    await expect(readConfiguration(join(folder, 'broken'))).rejects.toMatchObject(expected);
  });

  it('names the missing file', async () => {
    const reading = read({ ...good, hub: { connectionStringFile: 'none' }, files: { caFile: 'neither' } });
    await expect(reading).rejects.toMatchObject({
      problems: [
        'line 1: hub.connectionStringFile: none cannot be read: ENOENT',
        'line 1: files.caFile: neither cannot be read: ENOENT',
      ],
    });
    await expect(readConfiguration(join(folder, 'nothing'))).rejects.toThrow('the file cannot be read: ENOENT');
  });

  it('names the empty file', async () => {
    await writeFile(join(folder, 'empty'), '\n');
    const broker = { ...good.broker, username: 'u', passwordFile: 'empty' };
    await expect(read({ ...good, hub: { connectionStringFile: 'empty' }, broker })).rejects.toMatchObject({
      problems: [
        'line 1: hub.connectionStringFile: empty is empty: write the content into it',
        'line 1: broker.passwordFile: empty is empty: write the content into it',
      ],
    });
  });

  it('names the missing parts of a connection string, without the string', async () => {
    await expect(read({ ...good, hub: { connectionString: 'HostName=h;SharedAccessKey=c2VjcmV0' } })).rejects.toThrow(
      /^line 1: hub.connectionString: has no DeviceId: /,
    );
    await writeFile(join(folder, 'hub-only'), 'HostName=h;ModuleId=m');
    await expect(read({ ...good, hub: { connectionStringFile: 'hub-only' } })).rejects.toThrow(
      /^line 1: hub.connectionStringFile: has no DeviceId, no SharedAccessKey: /,
    );
  });

  describe('with a certificate for the hub', () => {
    const address = 'HostName=h;DeviceId=d;x509=true';
    const files = { certificateFile: 'device.pem', keyFile: 'device.key' };
    const right = { connectionString: address, ...files };
    let own: Issued;
    beforeAll(async () => {
      own = await issueCertificate({ name: 'd', role: 'client' });
      await writeFile(join(folder, 'device.pem'), own.cert);
      await writeFile(join(folder, 'device.key'), own.key);
      await writeFile(join(folder, 'other.key'), (await issueCertificate({ name: 'd', role: 'client' })).key);
    });

    it('has both', async () => {
      const { hub } = await read({ ...good, hub: right });
      expect(hub).toEqual({ connectionString: address, certificate: own.cert, key: own.key, webSockets: false });
    });

    it.each([
      ['connectionString: has x509: hub.certificateFile and hub.keyFile', { connectionString: address }],
      ['connectionString: has a SharedAccessKey, and', { connectionString, ...files }],
      ['connectionString: has no DeviceId: ', { connectionString: 'HostName=h;x509=true', ...files }],
      ['connectionString: has no HostName, no Dev', { connectionString: 'x509=true', ...files }],
      ['keyFile: is not the key of the certificate in hub.certificateFile', { ...right, keyFile: 'other.key' }],
      ['certificateFile: has no certificate in the form PEM', { ...right, certificateFile: 'device.key' }],
      ['keyFile: has no key in the form PEM, or one with a passphrase', { ...right, keyFile: 'device.pem' }],
    ])('is refused: %s', (problem, hub) => expect(read({ ...good, hub })).rejects.toThrow(`line 1: hub.${problem}`));
  });

  it('has a valid example with every setting', async () => {
    const text = await readFile('edge/config.example.jsonc', 'utf8');
    expect(problemsOf(text)).toEqual([]);
    const walk = (node: unknown): string[] =>
      typeof node !== 'object' || node === null
        ? []
        : Object.entries(node).flatMap(([key, value]) => [
            ...(key === 'properties' ? Object.keys(value as object) : []),
            ...walk(value),
          ]);
    for (const name of walk(await edgeSchema())) expect(text).toContain(`"${name}"`);
  });

  it('has a JSON schema that accepts the example and refuses a misspelt name', async () => {
    const validate = new Ajv2020().compile(await edgeSchema());
    const example = readJsonWithComments(await readFile('edge/config.example.jsonc', 'utf8')).value as object;
    expect([validate(example), validate({ ...example, brokers: {} })]).toEqual([true, false]);
  });
});
