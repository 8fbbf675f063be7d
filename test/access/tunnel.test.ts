import { readFileSync } from 'node:fs';
import http from 'node:http';
import https, { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  directAgent,
  isProxyFault,
  outboundAgent,
  Tunnel,
  tunnelTo,
  useProxies,
} from '@device-messaging/telemetry/outbound.ts';
import { trustAlso } from '@device-messaging/telemetry/trust.ts';
import { Axios } from 'axios';
import { ensureCertificates } from 'iot-hub-emulator/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { createTransport } from '../../src/backends/transport.ts';
import { serve } from '../backends/harness.ts';
import { type ConnectProxy, startConnectProxy } from '../support/connectProxy.ts';

// Clients of Node's own HTTP, and of undici, through a proxy to servers whose authority only a setting names (D406, D407).

const directory = folderForAll('tunnel');
let server: ReturnType<typeof createServer>;
let proxy: ConnectProxy;
let secureUrl: string;
beforeAll(async () => {
  const { cert, key, caFile } = await ensureCertificates(directory);
  trustAlso(readFileSync(caFile, 'utf8'));
  server = createServer({ cert, key }, (_, response) => response.end('secure'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  secureUrl = `https://localhost:${(server.address() as AddressInfo).port}`;
  proxy = await startConnectProxy();
});
beforeEach(() => {
  proxy.behave('leads');
  use(proxy.url);
});
afterAll(async () => {
  use(''); // other files of this process go without
  server.closeAllConnections();
  await Promise.all([proxy.close(), new Promise((resolve) => server.close(resolve))]);
});

const use = (url: string, except = '') => useProxies({ https: url, http: url, except });
const authority = (url: string) => new URL(url).host;

/** By the transport of the backends. */
async function byPool(url: string, attemptTimeoutMs = 30_000): Promise<string> {
  const transport = createTransport(url, { connections: 2, attemptTimeoutMs });
  try {
    const axios = new Axios({ adapter: transport.adapter, maxContentLength: 1000 });
    return (await axios.request({ method: 'GET', url: '/' })).data.toString();
  } finally {
    await transport.close();
  }
}

/** By the HTTP of Node.js, as the storage client, the identity library and exporters. */
const byAgent = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const asking = request(url, { agent: outboundAgent }, async (response) => {
      let text = '';
      for await (const piece of response) text += piece;
      resolve(text);
    });
    asking.once('error', reject).end();
  });

const clients = [
  ['undici', byPool],
  ['Node.js', byAgent],
] as const;

describe.each(clients)('a client of %s', (_, ask) => {
  it('asks the proxy for the address, and speaks TLS through it', async () => {
    const before = proxy.asked.length;
    expect(await ask(secureUrl)).toBe('secure');
    expect(proxy.asked.slice(before)).toEqual([authority(secureUrl)]);
  });

  it('waits for a proxy that hesitates', async () => {
    proxy.behave('hesitates');
    expect(await ask(secureUrl)).toBe('secure');
  });

  it('gives the credentials of the address', async () => {
    proxy.behave('asks');
    use(proxy.urlWithCredentials);
    expect(await ask(secureUrl)).toBe('secure');
  });

  it.each([
    ['asks', /asks for credentials that it accepts \(HTTP 407\)/],
    ['refuses', /does not lead to localhost:\d+: HTTP 403/],
    ['cuts', /the proxy 127\.0\.0\.1:\d+ cannot be used: /],
  ] as const)('fails with what the proxy does when it %s, after one request', async (how, says) => {
    proxy.behave(how);
    const before = proxy.asked.length;
    await expect(ask(secureUrl)).rejects.toThrow(says);
    expect(proxy.asked.slice(before)).toEqual([authority(secureUrl)]);
  });

  it('fails when there is no proxy at the address', async () => {
    use('http://127.0.0.1:1');
    await expect(ask(secureUrl)).rejects.toThrow(/the proxy 127\.0\.0\.1:1 cannot be used: ECONNREFUSED/);
  });

  it('goes directly to what is excepted', async () => {
    use(proxy.url, 'localhost');
    const before = proxy.asked.length;
    expect([await ask(secureUrl), proxy.asked.slice(before)]).toEqual(['secure', []]);
  });
});

it('a client of undici asks the proxy of HTTP_PROXY for an address without TLS', async () => {
  const plainUrl = await serve((_, response) => response.end('plain'));
  const before = proxy.asked.length;
  expect(await byPool(plainUrl)).toBe('plain');
  expect(proxy.asked.slice(before)).toEqual([authority(plainUrl)]);
});

it('a proxy that keeps silent is given up, and its connection is closed', async () => {
  proxy.behave('keeps silent');
  const tunnel = new Tunnel(new URL(proxy.url), 100);
  await expect(tunnel.open('localhost', 1)).rejects.toMatchObject({
    code: 'EPROXYSILENT',
    message: `the proxy ${authority(proxy.url)} does not answer within 0.1 s`,
  });
  await expect.poll(() => proxy.open()).toBe(0);
});

it.each([
  ['asks', 'EPROXYAUTH', undefined],
  ['refuses', 'EPROXYREFUSED', undefined],
  ['cuts', 'EPROXYDOWN', expect.any(Error)],
] as const)('the failure of a proxy that %s has the code %s', async (how, code, cause) => {
  proxy.behave(how);
  const failure = new Tunnel(new URL(proxy.url)).open('localhost', 1);
  await expect(failure).rejects.toMatchObject({ name: 'ProxyFailure', code, cause });
});

it.each([
  ['through the proxy', () => use(proxy.url), 1],
  ['directly', () => use(''), 0],
])('a client of Node.js asks again by the same connection %s', async (_, go, asked) => {
  go();
  const before = proxy.asked.length;
  let connections = 0;
  const count = () => {
    connections += 1;
  };
  server.on('secureConnection', count);
  for (let times = 0; times < 3; times += 1) {
    expect(await byAgent(secureUrl)).toBe('secure');
    await nextTurn(); // the agent has the connection back
  }
  server.off('secureConnection', count);
  expect([connections, proxy.asked.length - before]).toEqual([1, asked]);
});

it('a connection through the proxy is not cut off when an answer of the proxy would be late', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const socket = await new Tunnel(new URL(proxy.url)).open('localhost', Number(new URL(secureUrl).port));
  expect(vi.getTimerCount()).toBe(0);
  socket.destroy();
});

it('no error has the password of the proxy', async () => {
  use(proxy.urlWithCredentials);
  proxy.behave('refuses');
  const error: Error = await byPool(secureUrl).catch((error) => error);
  const told = `${error.message} ${error.stack} ${JSON.stringify(error)}`;
  for (const secret of proxy.secrets) expect(told).not.toContain(secret);
});

it('one proxy has one pool of connections, until the proxies are named again', () => {
  const [one, two] = [new URL('https://one.example'), new URL('https://two.example')];
  const before = tunnelTo(one);
  expect(tunnelTo(two)).toBe(before);
  use(proxy.url);
  expect(tunnelTo(one)).not.toBe(before);
});

it.each([
  ['the proxy', outboundAgent, 'host.example', true, () => tunnelTo(new URL('https://host.example'))],
  ['the proxy, for an IPv6 address', outboundAgent, '::2', true, () => tunnelTo(new URL('https://[::2]'))],
  ['the proxy, for an address in brackets', outboundAgent, '[::2]', false, () => tunnelTo(new URL('http://[::2]'))],
  ['an excepted address with TLS', outboundAgent, '[::1]', true, () => https.globalAgent],
  ['an excepted address without TLS', outboundAgent, '::1', false, () => http.globalAgent],
  ['any address with TLS, directly', directAgent, 'host.example', true, () => https.globalAgent],
  ['any address without TLS, directly', directAgent, 'host.example', false, () => http.globalAgent],
])('an agent for Node.js leads to %s', (_, agent, host, secureEndpoint, expected) => {
  useProxies({ https: proxy.url, http: 'http://127.0.0.1:1', except: '::1' });
  const options = { host, port: 443, secureEndpoint };
  expect(agent.connect({} as never, options as never)).toBe(expected());
  expect(options.host).toBe(host.replaceAll(/[[\]]/g, ''));
});

it('only what a proxy does wrong is a fault of a proxy', () =>
  expect(['EPROXYAUTH', 'EPROXYSILENT', 'ECONNREFUSED', 'constructor'].map(isProxyFault)).toEqual([
    ...[true, true, false, false],
  ]));
