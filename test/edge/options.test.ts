import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hubAddress, proxyIn, useNetwork } from '../../edge/src/connections/network.ts';
import { createCredentials } from '../../edge/src/hub/hubConnection.ts';
import { failure, methodNameProblem, readInvocation } from '../../edge/src/hub/invocation.ts';
import { identityOf, secretsOf, startFields } from '../../edge/src/observing/log.ts';
import { readOptions } from '../../edge/src/options.ts';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { configuration } from './support/testProxy.ts';

// What the program of the edge proxy is given, and what it says of it.

const { version } = JSON.parse(readFileSync('edge/package.json', 'utf8'));
const { connectionString } = configuration.hub;
const withHub = (text: string) => ({ ...configuration, hub: { connectionString: text, webSockets: false } });

describe('the options', () => {
  const usual = { config: '/config/edge-proxy.jsonc', isCheckOnly: false, check: undefined, isHelp: false };
  it.each<[string[], Record<string, string>, object]>([
    [[], {}, usual],
    [[], { EDGE_PROXY_CONFIG: '' }, usual],
    [[], { EDGE_PROXY_CONFIG: 'a' }, { ...usual, config: 'a' }],
    [['--config', 'b'], { EDGE_PROXY_CONFIG: 'a' }, { ...usual, config: 'b' }],
    [['--check-config'], {}, { ...usual, isCheckOnly: true }],
    [['--check'], {}, { ...usual, check: { isJson: false, isInit: false } }],
    [['--check', '--json'], {}, { ...usual, check: { isJson: true, isInit: false } }],
    [['--init', '--check'], {}, { ...usual, check: { isJson: false, isInit: true } }],
    [['--help'], {}, { ...usual, isHelp: true }],
  ])('%j with %j are read', (args, environment, expected) => expect(readOptions(args, environment)).toEqual(expected));

  it.each([['--json'], ['--init']])('%s needs a check', (arg) =>
    expect(() => readOptions([arg], {})).toThrow('--json and --init need --check'),
  );
  it('that are not known are refused', () => expect(() => readOptions(['--cofnig'], {})).toThrow("'--cofnig'"));
});

describe('the first line of the log', () => {
  it('has what runs and its configuration, without secrets', () => {
    expect(startFields(configuration, { BUILD_COMMIT: 'abc' })).toEqual({
      ...{ version, build: 'abc', node: process.version },
      configuration: {
        hub: { host: 'h.net', identity: 'd' },
        broker: { url: 'mqtt://h', username: 'u', clientId: undefined, hasPassword: true },
        ...{ modules: 3, gateways: 1, files: { hosts: ['a.net'], atOnce: 4 } },
        ...{ limits: configuration.limits, health: configuration.health, log: configuration.log },
      },
    });
    const { broker: _, ...rest } = configuration;
    const { build, configuration: shown } = startFields({ ...rest, broker: { url: 'mqtt://h' } }, { BUILD_COMMIT: '' });
    expect([build, shown.broker.hasPassword]).toEqual(['unknown', false]);
  });

  it('names the module of the device', () => {
    expect(identityOf(withHub('HostName=h;DeviceId=d;ModuleId=m;x509=true'))).toBe('d/m');
    expect(identityOf(withHub('HostName=h'))).toBe('');
  });

  it('has no secret of the configuration in any line', () => {
    expect(secretsOf(configuration)).toEqual(['a2V5', 'secret']);
    const { connectionString: text } = withHub('HostName=h;DeviceId=d;x509=true').hub;
    const hub = { connectionString: text, key: 'k', certificate: 'c', webSockets: false };
    expect(secretsOf({ ...configuration, hub, broker: { url: 'mqtt://h', key: 'b' } })).toEqual(['k', 'b']);
  });
});

describe('the network', () => {
  const folder = folderForAll('edge');

  it('has a proxy in either letter case, or in a file', async () => {
    const file = join(folder, 'proxy');
    await writeFile(file, ' http://u:p@proxy:1 \n');
    expect([proxyIn({}), proxyIn({ HTTPS_PROXY: 'http://a' })]).toEqual(['', 'http://a']);
    expect(proxyIn({ HTTPS_PROXY: 'http://a', https_proxy: 'http://b' })).toBe('http://a');
    expect(proxyIn({ HTTPS_PROXY: '', https_proxy: 'http://b', HTTPS_PROXY_FILE: '' })).toBe('http://b');
    expect(proxyIn({ HTTPS_PROXY_FILE: file })).toBe('http://u:p@proxy:1');
    const twoWays = 'HTTPS_PROXY and HTTPS_PROXY_FILE are two ways to give the same secret; remove one of them';
    expect(() => proxyIn({ HTTPS_PROXY_FILE: file, https_proxy: 'http://b' })).toThrow(twoWays);
    await writeFile(file, '\n');
    expect(() => proxyIn({ HTTPS_PROXY_FILE: file })).toThrow(`HTTPS_PROXY_FILE: ${file} is empty: write the address`);
    expect(() => proxyIn({ HTTPS_PROXY_FILE: folder })).toThrow(`${folder} cannot be read (EISDIR)`);
  });

  it('leads to the gateway that the connection string names, else to the hub', () => {
    expect(hubAddress(connectionString).href).toBe('https://h.net/');
    expect(hubAddress(`${connectionString};GatewayHostName=g`).href).toBe('https://g/');
  });

  const ofIpv6 = { connectionString: 'HostName=[::1];DeviceId=d;SharedAccessKey=a2V5', webSockets: true };
  it.each<[problem: string, Record<string, string>, change?: object]>([
    ['HTTPS_PROXY: must be the http or https address', { HTTPS_PROXY: 'nonsense' }],
    ['hub.webSockets: MQTT at port 8883 passes no proxy', { HTTPS_PROXY: 'http://proxy:1' }],
    ['hub.webSockets: cannot reach an IPv6 address', {}, ofIpv6],
    ['network.caFile: has no certificate', {}, { ca: 'nonsense' }],
    ['HTTPS_PROXY and HTTPS_PROXY_FILE are two ways', { https_proxy: 'http://a', HTTPS_PROXY_FILE: '/dev/null' }],
  ])('is refused: %s', (problem, env, change) => {
    onTestFinished(() => useNetwork({ hub: configuration.hub, network: {} }, {}));
    const { ca, ...hub } = { ca: undefined, ...change };
    const given = { hub: { ...configuration.hub, ...hub }, network: ca === undefined ? {} : { ca } };
    expect(() => useNetwork(given, env)).toThrow(problem);
  });

  it('is taken when the hub is beside the proxy, or reached by WebSockets', () => {
    onTestFinished(() => useNetwork({ hub: configuration.hub, network: {} }, {}));
    const env = { HTTPS_PROXY: 'http://proxy:1' };
    useNetwork({ hub: { connectionString, webSockets: true }, network: {} }, env);
    useNetwork({ hub: configuration.hub, network: {} }, { ...env, no_proxy: 'h.net' });
    const v4 = connectionString.replace('h.net', '127.0.0.1');
    useNetwork({ hub: { connectionString: v4, webSockets: true }, network: {} }, {});
  });
});

// With what the proxy signs in at the hub (D426).

it.each<[string, string, object]>([
  ['a device', '', {}],
  ['a module', ';ModuleId=m', { moduleId: 'm' }],
  ['a device behind a gateway', ';GatewayHostName=g', { gatewayHostName: 'g' }],
])('the certificate of %s signs it in as what the connection string names', async (_, more, expected) => {
  const connectionString = `HostName=h;DeviceId=d;x509=true${more}`;
  const provider = createCredentials({ connectionString, certificate: 'c', key: 'k' }, 60);
  const credentials = await new Promise((resolve, reject) =>
    provider.getDeviceCredentials((error, found) => (error ? reject(error) : resolve(found))),
  );
  expect(credentials).toEqual({ host: 'h', deviceId: 'd', x509: { cert: 'c', key: 'k' }, ...expected });
});

describe('an invocation and its response', () => {
  // What a front door sends, and what it gets (M6, M7).

  const good = {
    ...{ correlationId: 'c', objectId: '6b0e4d7c-5a33-4d8c-9a1e-2f1c0f6a7b10', model: 'm', target: '', method: 'stop' },
    timeout: 20,
  };
  const file = { url: 'https://a.net/a', bytes: 0, etag: '"0x1"' };
  const withFile = (change: object) => ({ input: { a: 'x' }, files: { a: { ...file, ...change } } });

  describe('an invocation', () => {
    it.each<[string, object]>([
      ['the longest correlation id', { correlationId: 'x'.repeat(128) }],
      ['the shortest time-out', { timeout: 5 }],
      ['the longest time-out', { timeout: 300 }],
      ['an input named __proto__', { input: JSON.parse('{"__proto__":1}') }],
      ['no inputs', { input: {} }],
      ['a member that is not known', { more: 1 }],
    ])('may have %s', (_, change) => {
      const { more: _more, ...expected } = { more: 0, ...good, ...change };
      expect(readInvocation({ ...good, ...change })).toEqual(expected);
    });

    it('has its files by their inputs, with the longest URL and etag', () => {
      const longest = { url: `https://a.net/${'x'.repeat(8178)}`, bytes: 0, etag: 'x'.repeat(256) };
      expect(longest.url).toHaveLength(8192);
      const files = { a: file, b: longest };
      expect(readInvocation({ ...good, input: { a: 'x', b: '' }, files })).toEqual({
        ...{ ...good, input: { a: 'x', b: '' } },
        files: new Map(Object.entries(files)),
      });
      expect(readInvocation({ ...good, files: {} })).toEqual({ ...good, files: new Map() });
    });

    it.each<[unknown, string]>([
      [null, 'must be a JSON object'],
      [[good], 'must be a JSON object'],
      [{ ...good, correlationId: undefined }, 'correlationId must be a string'],
      [{ ...good, correlationId: 'x'.repeat(129) }, 'correlationId must have at most 128 characters'],
      [{ ...good, objectId: 'x' }, 'objectId must be a GUID'],
      [{ ...good, objectId: 1 }, 'objectId must be a GUID'],
      [{ ...good, model: 1 }, 'model must be a string'],
      [{ ...good, target: null }, 'target must be a string'],
      [{ ...good, method: '' }, 'method must not be empty'],
      [{ ...good, timeout: 4 }, 'timeout must be at least 5'],
      [{ ...good, timeout: 301 }, 'timeout must be at most 300'],
      [{ ...good, timeout: 5.5 }, 'timeout must be whole seconds'],
      [{ ...good, timeout: '5' }, 'timeout must be whole seconds'],
      [{ ...good, method: '', timeout: 4 }, 'method must not be empty; timeout must be at least 5'],
      [{ ...good, input: null }, 'input must be an object'],
      [{ ...good, input: [] }, 'input must be an object'],
      [{ ...good, input: 'a' }, 'input must be an object'],
      [{ ...good, files: [] }, 'files must be an object'],
      [{ ...good, files: { a: file } }, 'a file has no input of the same name'],
      [{ ...good, input: { a: 1 }, files: { a: file } }, 'a file has no input of the same name'],
      [{ ...good, input: { a: 'x' }, files: { a: 1 } }, 'a file: must be an object with url, bytes and etag'],
      [{ ...good, ...withFile({ url: 1 }) }, 'a file: url must be a string'],
      [{ ...good, ...withFile({ url: 'x'.repeat(8193) }) }, 'a file: url must have at most 8192 characters'],
      [{ ...good, ...withFile({ bytes: -1 }) }, 'a file: bytes must not be negative'],
      [{ ...good, ...withFile({ bytes: 0.5 }) }, 'a file: bytes must be a whole number'],
      [{ ...good, ...withFile({ etag: '' }) }, 'a file: etag must not be empty'],
      [{ ...good, ...withFile({ etag: 'x'.repeat(257) }) }, 'a file: etag must have at most 256 characters'],
    ])('%# is refused with what is wrong with it', (payload, problem) =>
      expect(readInvocation(payload)).toEqual({ problem: `the payload is not a valid invocation: ${problem}` }),
    );
  });

  it.each<[string, boolean]>([
    ['stop', true],
    ['a$', true],
    ['$a', false],
    ['a/b', false],
    ['a+', false],
    ['#', false],
    ['a\u0007', false],
    ['\ufdd0', false],
    ['\ud800', false],
    ['ü'.repeat(512), true],
    [`${'ü'.repeat(512)}x`, false],
  ])('whether the method %j can be part of a topic: %s', (method, isPossible) => {
    const problem = /^the method name cannot be part of a topic: it must have at most 1024/;
    expect(methodNameProblem(method)).toEqual(isPossible ? undefined : expect.stringMatching(problem));
  });

  it.each([
    ['x'.repeat(300), 'x'.repeat(300)],
    ['x'.repeat(301), `${'x'.repeat(299)}…`],
    [`${'x'.repeat(298)}\u{1F600}yy`, `${'x'.repeat(298)}\ufffd…`],
  ])('the sentence of a failure has at most 300 characters: %#', (given, detail) => {
    const [unknown, known] = [failure('no_reply', given), failure('bad_reply', given, 0)];
    expect(unknown).toEqual({ status: 504, reason: 'no_reply', payload: { detail, invoked: 'unknown' } });
    expect(known).toEqual({ status: 502, reason: 'bad_reply', payload: { detail, invoked: 'yes', status: 0 } });
  });
});
