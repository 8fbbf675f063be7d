import { writeFile } from 'node:fs/promises';
import { type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { folderForAll, startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { openPage } from '../../sandbox/page/pageServer.ts';
import { sandboxForAll } from '../e2e/testSandbox.ts';

/** A sandbox without the service: what it sends stays with the hub. */
const sandbox = sandboxForAll({ service: false });
const directory = folderForAll('page');
const page = startForAll(async () => {
  await writeFile(join(directory, 'index.html'), '<!doctype html>');
  await writeFile(join(directory, 'secret.txt'), 'secret');
  const { state, hub, connect } = sandbox;
  return openPage({ state, journal: hub.journal, connect, told: [] }, 0, directory);
});

type Answered = Readonly<{ status: number; headers: IncomingHttpHeaders; body: string }>;

const ask = (path: string, method = 'GET', headers: Record<string, string> = {}, body = '') =>
  new Promise<Answered>((resolve, reject) => {
    const { hostname, port } = new URL(page.url);
    const asked = request({ hostname, port, path, method, headers }, async (response) => {
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: await text(response) });
    });
    asked.on('error', reject);
    asked.end(body);
  });

const json = { 'content-type': 'application/json' };

describe('the server of the page', () => {
  it('serves the page with a policy that lets nothing else run, and no other file', async () => {
    const { status, headers, body } = await ask('/');
    expect([status, body]).toEqual([200, '<!doctype html>']);
    expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
    for (const path of ['/secret.txt', '/../secret.txt', '/%2e%2e/secret.txt', '/constructor', '/page.js'])
      expect((await ask(path)).status, path).toBe(404);
  });
  it.each([
    ['a foreign page', { origin: 'http://evil.example' }],
    ['a page on another port of this machine', { origin: 'http://127.0.0.1:1' }],
    ['a sandboxed page', { origin: 'null' }],
    ['an image in a foreign page', { 'sec-fetch-site': 'cross-site' }],
    ['a page of the same site', { 'sec-fetch-site': 'same-site' }],
    ['a host name that leads here (DNS rebinding)', { host: 'evil.example' }],
    ['such a host name with an origin', { host: 'evil.example', origin: 'http://evil.example' }],
  ])('gives %s nothing', async (_, headers) => {
    for (const path of ['/', '/sandbox', '/hub/devices', '/hub/journal', '/backends/world/objects'])
      expect((await ask(path, 'GET', headers)).status, path).toBe(403);
    const mark = sandbox.hub.journal.last;
    const message = JSON.stringify({ deviceId: 'pump-1', properties: {}, body: 'x' });
    expect((await ask('/messages', 'POST', { ...json, ...headers }, message)).status).toBe(403);
    expect(sandbox.hub.journal.last).toBe(mark);
  });
  it('passes requests of the page on to the admin ports, although those refuse pages', async () => {
    const { host } = new URL(page.url);
    const headers = { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' };
    const added = await ask('/hub/faults?seconds=3600', 'POST', headers, '{"kind":"no-events"}');
    expect(added.status).toBe(201);
    const { faults } = JSON.parse((await ask('/hub/faults', 'GET', headers)).body);
    expect(faults).toMatchObject([{ fault: { kind: 'no-events' }, until: expect.stringMatching(/^\d{4}-/) }]);
    expect((await ask(`/hub/faults/${faults[0].id}`, 'DELETE', headers)).status).toBe(204);
    expect(JSON.parse((await ask('/backends/world/objects')).body).data.length).toBeGreaterThan(3);
    expect((await ask('/hub/nothing')).status).toBe(404);
    expect((await ask('/service/level', 'PUT', json, '{"level":"debug"}')).status).toBe(405);
    expect((await ask('/service/devices')).status).toBe(502);
  });
  it('sends a message as a device, byte for byte, and says where the journal has it', async () => {
    const message = { deviceId: 'page-1', properties: { msgType: 'other', 'a b': 'ü' }, body: '{ "n": 1.0 }' };
    for (const _ of ['the first time', 'and connected already']) {
      const { status, body } = await ask('/messages', 'POST', json, JSON.stringify(message));
      expect(status, body).toBe(200);
      const entry = sandbox.hub.journal.at(JSON.parse(body).position);
      const { properties } = message;
      expect(entry).toMatchObject({ kind: 'd2c', deviceId: 'page-1', properties, body: Buffer.from(message.body) });
    }
    expect(sandbox.hub.journal.list({ deviceId: 'page-1', kind: 'connected' })).toHaveLength(1);
  });
  it.each([
    ['of another type', { 'content-type': 'text/plain' }, '{}', 415],
    ['without a device', json, '{"properties":{},"body":""}', 400],
    ['that is no JSON', json, '{', 400],
    ['for a device that cannot be', json, '{"deviceId":"a/b","properties":{},"body":""}', 502],
  ])('refuses a message %s, with a sentence', async (_, headers, body, status) => {
    const answered = await ask('/messages', 'POST', headers, body);
    expect(answered.status).toBe(status);
    expect(JSON.parse(answered.body)).toEqual({ error: expect.stringMatching(/\w+/) });
  });
  it('tells about the sandbox without its keys', async () => {
    const { body } = await ask('/sandbox');
    expect(JSON.parse(body)).toMatchObject({
      methods: null,
      messages: expect.arrayContaining([expect.objectContaining({ name: 'model.create' })]),
    });
    const { deviceKeySecret, serviceConnectionString } = sandbox.state.hub;
    const key = /SharedAccessKey=(.*)/.exec(serviceConnectionString)?.[1] ?? '';
    for (const secret of [deviceKeySecret, key, sandbox.state.backends.token.clientSecret])
      expect(body).not.toContain(secret);
  });
});
