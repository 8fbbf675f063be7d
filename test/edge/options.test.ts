import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Configuration } from '../../edge/src/configuration/read.ts';
import { hubAddress, proxyIn, useNetwork } from '../../edge/src/connections/network.ts';
import { identityOf, secretsOf, startFields } from '../../edge/src/operations/startLine.ts';
import { readOptions } from '../../edge/src/options.ts';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { modules } from './support/testProxy.ts';

// What the program of the edge proxy is given, and what it says of it.

const { version } = JSON.parse(readFileSync('edge/package.json', 'utf8'));
const connectionString = 'HostName=h.net;DeviceId=d;SharedAccessKey=a2V5';
const configuration: Configuration = {
  hub: { connectionString, webSockets: false },
  network: {},
  broker: { url: 'mqtt://h', username: 'u', password: 'secret' },
  modules: [...modules],
  files: { hosts: ['a.net'], atOnce: 4, loopbackHttp: false },
  limits: { inFlight: 200, inFlightPerModule: 100, drainSeconds: 25 },
  health: { host: '0.0.0.0', port: 8080 },
  log: { level: 'info', pretty: false },
};
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
    expect(proxyIn({})).toBe('');
    expect(proxyIn({ HTTPS_PROXY: 'http://a' })).toBe('http://a');
    expect(proxyIn({ HTTPS_PROXY: 'http://a', https_proxy: 'http://b' })).toBe('http://a');
    expect(proxyIn({ HTTPS_PROXY: '', https_proxy: 'http://b', HTTPS_PROXY_FILE: '' })).toBe('http://b');
    expect(proxyIn({ HTTPS_PROXY_FILE: file })).toBe('http://u:p@proxy:1');
    expect(() => proxyIn({ HTTPS_PROXY_FILE: file, https_proxy: 'http://b' })).toThrow(
      'HTTPS_PROXY and HTTPS_PROXY_FILE are two ways to give the same secret; remove one of them',
    );
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
