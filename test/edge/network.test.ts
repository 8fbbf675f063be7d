import { expect, it } from 'vitest';
import { startForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { check, findings } from '../e2e/check/run.ts';
import { startConnectProxy } from '../support/connectProxy.ts';
import { edgeProgram, startTestEdge } from './support/testEdge.ts';

// The edge proxy in a narrow network (D408).

const ofProgram = (args: readonly string[], environment: Readonly<Record<string, string>>) =>
  check(args, environment, { program: edgeProgram });

it('the edge proxy invokes a method over WebSockets, through the proxy of the environment, with a private authority', async () => {
  const proxy = await startForTest(startConnectProxy());
  proxy.behave('asks');
  const shell = `https_proxy='${proxy.urlWithCredentials}'`;
  const edge = await startForTest(startTestEdge({ process: { shell }, isNarrow: true }));
  const press = await edge.module('press', (request) => request.reply(200));
  expect((await edge.call()).status).toBe(200);
  await press.close();
  expect(new Set(proxy.asked)).toEqual(new Set([`localhost:${edge.hub.ports.mqtts}`]));
  for (const secret of proxy.secrets) expect(JSON.stringify(edge.lines)).not.toContain(secret);

  const args = ['--config', `${edge.folder}/edge-proxy.json`, '--check'];
  const checked = await findings(args, { HTTPS_PROXY: proxy.urlWithCredentials }, ofProgram);
  const expected = { mark: 'ok', found: expect.stringMatching(/ through 127\.0\.0\.1:\d+ \(HTTPS_PROXY\) answers/) };
  expect(checked.found.find(({ what }) => what === 'hub')).toMatchObject(expected);
  const refused = await findings(args, { HTTPS_PROXY: proxy.url }, ofProgram);
  expect(refused.found.find(({ what }) => what === 'hub')).toMatchObject({
    mark: 'failure',
    found: expect.stringContaining('HTTP 407'),
    todo: expect.stringContaining('HTTPS_PROXY'),
  });
});
