import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { issueCertificate } from 'iot-hub-emulator/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { startForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { startFileServer } from './support/fileServer.ts';
import {
  authenticationBy,
  startTestEdge,
  type TestEdge,
  type TestEdgeOptions,
  users,
  writeCertificate,
} from './support/testEdge.ts';
import { pressObject } from './support/testProxy.ts';

// The configuration is read again when its file changes (M10, D212).

describe('a changed configuration', () => {
  let edge: TestEdge;
  afterEach(() => edge.close());
  const start = async (options: TestEdgeOptions = {}) => {
    edge = await startTestEdge(options);
  };
  const logged = (event: string) => edge.lines.filter((line) => line['event'] === event);
  async function take(change: Readonly<Record<string, unknown>>) {
    const before = logged('configuration.taken').length;
    await edge.rewrite(change);
    await expect.poll(() => logged('configuration.taken').length).toBe(before + 1);
  }
  const subscriptions = () => edge.broker.subscriptionsOf('edge-proxy').toSorted();
  const all = ['bus/out/+/+', 'camera/out/+/+', 'press/out/+/+'];
  /** Begins an invocation. The function expects that a peer is connected to anew when it has ended, and not before. */
  async function invokeMeanwhile() {
    const module = await edge.module('press');
    const invoked = edge.call();
    const request = await module.next();
    return async (connected: string) => {
      expect(logged(connected)).toHaveLength(1);
      request.reply(7);
      expect((await invoked).payload).toEqual({ status: 7 });
      await expect.poll(() => logged(connected)).toHaveLength(2);
      await expect.poll(subscriptions).toEqual(all);
      await edge.ready();
      const next = edge.call();
      (await module.next()).reply(8);
      expect((await next).payload).toEqual({ status: 8 });
    };
  }
  const withId = (id: string) => edge.modules.find((one) => one['id'] === id) ?? {};

  it('leaves invocations in progress with the one that they began with', async () => {
    await start();
    const [first, second] = [await edge.module('press'), await edge.module('camera')];
    const before = edge.call({ method: 'slow' });
    const request = await first.next();
    // The object goes to another module, whose topics the proxy may use.
    const modules = [withId('bus'), { ...withId('camera'), identity: undefined, objectIds: [pressObject] }];
    await take({ modules, limits: { inFlight: 2, inFlightPerModule: 2 } });
    const after = edge.call({ method: 'fast' });
    const next = await second.next();
    expect((await edge.call()).payload.detail).toMatch(/too many/);
    next.reply(2);
    expect([(await after).payload, subscriptions()]).toEqual([{ status: 2 }, all]);
    request.reply(1);
    expect((await before).payload).toEqual({ status: 1 });
    await expect.poll(subscriptions).toEqual(['bus/out/+/+', 'camera/out/+/+']);
    expect(first.received).toHaveLength(1);
  });

  it('leaves downloads in progress with their module, their quota and their files', async () => {
    const server = await startForTest(startFileServer());
    const files = { hosts: [server.host], loopbackHttp: true };
    await start({ files });
    const module = await edge.module('press');
    const signed = server.signed('a', 'xx');
    let finish = () => {};
    server.behave((_, response) => {
      response.writeHead(200, { etag: signed.etag }).write('x');
      finish = () => response.end('x');
    });
    const load = () => edge.call({ input: { a: 'a' }, files: { a: signed } });
    const loading = load();
    await expect.poll(() => readdir(edge.files)).toEqual([expect.stringMatching(/^\.incoming-/)]);
    const smaller = { ...withId('press'), files: { folder: edge.files, quotaBytes: 3 } };
    await take({ modules: [smaller], files });
    expect(await load()).toMatchObject({ status: 503, payload: { detail: expect.stringMatching(/do not fit/) } });
    await take({ modules: [{ ...smaller, files: undefined }], files: { hosts: [] } });
    finish();
    const request = await module.next();
    expect(await readdir(edge.files)).toEqual([JSON.parse(request.text).a]);
    request.reply(1);
    expect((await loading).payload).toEqual({ status: 1 });
  });

  it('with the next password of the broker takes effect when no invocation is in progress', async () => {
    const rights = { publish: ['press/in/#'], subscribe: ['press/out/#', 'bus/out/#', 'camera/out/#'] };
    const user = { ...users['edge-proxy'], ...rights };
    const changing = { ...users, 'edge-proxy': { ...user, password: 'edge-proxy-secret' } };
    await start({ users: changing });
    await edge.ready();
    const expectReconnected = await invokeMeanwhile();
    changing['edge-proxy'] = { ...user, password: 'another-secret' };
    const { url } = edge.configuration.broker;
    await take({ broker: { url, username: 'edge-proxy', password: 'another-secret' } });
    await expectReconnected('broker.connected');
    expect(JSON.stringify(edge.lines)).not.toContain('another-secret');
  });

  it('with the next certificate of the proxy takes effect when no invocation is in progress', async () => {
    await start({ hasCertificate: true });
    const expectReconnected = await invokeMeanwhile();
    const own = await issueCertificate({ name: 'edge-1', role: 'client' });
    edge.hub.registry.update('edge-1', { authentication: authenticationBy(own) });
    await writeFile(join(edge.folder, 'device.pem'), own.cert);
    await expect.poll(() => logged('configuration.refused')).toHaveLength(1);
    expect(logged('configuration.refused')[0]).toMatchObject({
      problems: [expect.stringMatching(/hub\.keyFile: is not the key of the certificate/)],
    });
    await writeCertificate(edge.folder, own);
    await expect.poll(() => logged('configuration.taken')).toHaveLength(1);
    await expectReconnected('hub.connected');
    expect(JSON.stringify(edge.lines)).not.toContain(own.key.split('\n')[1]);
  });
});
