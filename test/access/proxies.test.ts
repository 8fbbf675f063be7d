import { describe, expect, it } from 'vitest';
import { createProxyOf, proxyProblem, proxySecrets } from '../../telemetry/src/proxies.ts';

const secure = 'http://proxy:3128/';
const plain = 'http://other:8888/';
const proxyOf = (address: string, except = '') =>
  createProxyOf({ https: secure, http: plain, except })(new URL(address))?.href;

describe('an address', () => {
  it('has the proxy for its protocol', () => {
    expect(proxyOf('https://hub.example')).toBe(secure);
    expect(proxyOf('wss://hub.example/path')).toBe(secure);
    expect(proxyOf('http://backend.example')).toBe(plain);
  });

  it('is reached directly when there is none for its protocol', () => {
    const ofSecure = createProxyOf({ https: secure, http: '', except: '' });
    expect(ofSecure(new URL('http://backend.example'))).toBeUndefined();
    const ofPlain = createProxyOf({ https: '', http: plain, except: '' });
    expect(ofPlain(new URL('https://hub.example'))).toBeUndefined();
  });
});

describe('NO_PROXY', () => {
  it.each([
    ['*', 'https://anything.example'],
    ['example.com', 'https://example.com'],
    ['example.com', 'https://EXAMPLE.com'],
    ['Example.COM', 'https://example.com'],
    ['example.com', 'https://deep.hub.example.com:8443'],
    ['.example.com', 'https://hub.example.com'],
    ['.example.com', 'https://example.com'],
    ['*.example.com', 'https://hub.example.com'],
    ['example.com:8443', 'https://example.com:8443'],
    ['example.com:443', 'https://example.com'],
    ['example.com:80', 'http://example.com'],
    ['127.0.0.1', 'https://127.0.0.1:5671'],
    ['127.0.0.1:5671', 'https://127.0.0.1:5671'],
    ['10.0.0.0/8', 'https://10.200.3.4'],
    ['10.0.0.0/16', 'https://10.0.3.4'],
    ['::1', 'https://[::1]:8443'],
    ['[::1]', 'https://[::1]'],
    ['[::1]:8443', 'https://[::1]:8443'],
    ['0:0:0:0:0:0:0:1', 'https://[::1]'],
    ['[0:0:0:0:0:0:0:1]:8443', 'https://[::1]:8443'],
    ['fd00::/8', 'https://[fd12::1]'],
    ['one.example, two.example', 'https://two.example'],
    ['one.example two.example', 'https://two.example'],
    [',,one.example,', 'https://one.example'],
  ])('%s excepts %s', (except, address) => expect(proxyOf(address, except)).toBeUndefined());

  it.each([
    ['', 'https://example.com'],
    ['', 'https://example.com.'],
    [' , ', 'https://example.com.'],
    ['example.com', 'https://example.org'],
    ['example.com', 'https://notexample.com'],
    ['hub.example.com', 'https://example.com'],
    ['example.com:8443', 'https://example.com'],
    ['10.0.0.0/8', 'https://11.0.0.1'],
    ['10.0.0.0/8', 'https://ten.example'],
    ['10.0.0.0/99', 'https://10.0.0.1'],
    ['10.0.0.0/8x', 'https://10.0.0.1'],
    ['127.0.0.1', 'https://localhost'],
    ['[::1]:8443', 'https://[::1]'],
    ['[::1]:8443', 'https://[::2]:8443'],
    ['fd00::/8', 'https://10.0.0.1'],
  ])('%s does not except %s', (except, address) => expect(proxyOf(address, except)).toBe(secure));
});

describe('the address of a proxy', () => {
  it.each(['http://proxy:3128', 'https://proxy', 'http://user:p%40ss@10.0.0.1:3128/', 'http://[::1]:3128'])(
    '%s is one',
    (text) => expect(proxyProblem(text)).toBeUndefined(),
  );

  it.each([
    ...['proxy:3128', '10.0.0.1:3128', 'socks5://proxy:1080', 'xhttp://proxy/', 'http://proxy/path'],
    ...['http://proxy?query', 'http://user:p%zz@proxy', 'http://'],
  ])('%s is none', (text) => expect(proxyProblem(text)).toMatch(/^must be the http or https address of a proxy/));

  it('has secrets as they are written, as they are, and as they are sent', () => {
    const sent = Buffer.from('user:p@ss').toString('base64');
    expect(proxySecrets('http://user:p%40ss@proxy:3128')).toEqual(['p%40ss', 'p@ss', sent]);
    expect(proxySecrets('http://proxy:3128')).toEqual([]);
    expect(proxySecrets('')).toEqual([]);
    expect(proxySecrets('user:p@ss')).toEqual(['user:p@ss']);
  });
});
