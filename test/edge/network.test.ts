import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { useNetwork } from '../../edge/src/connections/network.ts';
import { check, findings } from '../e2e/check/run.ts';
import { type ConnectProxy, startConnectProxy } from '../support/connectProxy.ts';
import { edgeProgram } from './support/process.ts';
import { startTestEdge, type TestEdge } from './support/testEdge.ts';

// The edge proxy in a narrow network (D408).

let proxy: ConnectProxy;
beforeAll(async () => {
  proxy = await startConnectProxy();
});
afterAll(() => proxy.close());

let edge: TestEdge | undefined;
afterEach(async () => {
  await edge?.close();
  edge = undefined;
});

const ofProgram = (args: readonly string[], environment: Readonly<Record<string, string>>) =>
  check(args, environment, edgeProgram);
const hostOf = ({ hub }: TestEdge) => `localhost:${hub.ports.mqtts}`;

it('the edge proxy invokes a method over WebSockets, through the proxy of the environment, with a private authority', async () => {
  proxy.behave('asks');
  const shell = `https_proxy='${proxy.urlWithCredentials}'`;
  edge = await startTestEdge({ process: { shell }, isNarrow: true });
  const press = await edge.module('press', (request) => request.reply(200));
  expect((await edge.call()).status).toBe(200);
  await press.close();
  expect(new Set(proxy.asked)).toEqual(new Set([hostOf(edge)]));
  for (const secret of proxy.secrets) expect(JSON.stringify(edge.lines)).not.toContain(secret);

  const args = ['--config', `${edge.folder}/edge-proxy.json`, '--check'];
  const checked = await findings(args, { HTTPS_PROXY: proxy.urlWithCredentials }, ofProgram);
  expect(checked.found.find(({ what }) => what === 'hub')).toMatchObject({
    mark: 'ok',
    found: expect.stringMatching(/ through 127\.0\.0\.1:\d+ \(HTTPS_PROXY\) answers/),
  });
  const refused = await findings(args, { HTTPS_PROXY: proxy.url }, ofProgram);
  expect(refused.found.find(({ what }) => what === 'hub')).toMatchObject({
    mark: 'failure',
    found: expect.stringContaining('HTTP 407'),
    todo: expect.stringContaining('HTTPS_PROXY'),
  });
});

describe('the edge proxy refuses to start', () => {
  const hub = { connectionString: 'HostName=hub.example;DeviceId=d;SharedAccessKey=a2V5', webSockets: false };
  it.each([
    [
      'MQTT that would have to pass a proxy',
      hub,
      {},
      { HTTPS_PROXY: 'http://proxy:3128' },
      /^hub\.webSockets: MQTT at port 8883/,
    ],
    ['a proxy that is none', hub, {}, { HTTPS_PROXY: 'proxy:3128' }, /^HTTPS_PROXY: must be the http or https address/],
    [
      'a file of the proxy that is not there',
      hub,
      {},
      { HTTPS_PROXY_FILE: '/none' },
      /^HTTPS_PROXY_FILE: \/none cannot be read \(ENOENT\)/,
    ],
    [
      'a file of the proxy that is empty',
      hub,
      {},
      { HTTPS_PROXY_FILE: '/dev/null' },
      /^HTTPS_PROXY_FILE: \/dev\/null is empty/,
    ],
    [
      'a proxy and a file of it',
      hub,
      {},
      { https_proxy: 'http://proxy:3128', HTTPS_PROXY_FILE: '/dev/null' },
      /^HTTPS_PROXY and HTTPS_PROXY_FILE are two ways/,
    ],
    ['a file without certificates', hub, { ca: 'none' }, {}, /^network\.caFile: has no certificate/],
  ])('with %s', (_, hub, network, env, says) => {
    expect(() => useNetwork({ hub, network }, env)).toThrow(says);
  });

  it('but not when the hub is reached directly', () => {
    useNetwork({ hub, network: {} }, { HTTPS_PROXY: 'http://proxy:3128', no_proxy: 'example' });
    useNetwork({ hub, network: {} }, {});
  });
});
