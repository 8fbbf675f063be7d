import { once } from 'node:events';
import { createServer } from 'node:http';
import { listen, namingSetting, serveHealth } from '@device-messaging/telemetry/health.ts';
import { describe, expect, it } from 'vitest';
import { startForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { startAdminServer } from '../../src/admin/adminServer.ts';

const here = '127.0.0.1';
const settings = { host: 'A_HOST', port: 'A_PORT' };

const other = startForEach(() => listen(createServer(), { host: here, port: 0, settings }));

it('a server that is closed ends open requests, and gives its port free', async () => {
  const silent = createServer(() => {});
  const asked = once(silent, 'request');
  const server = await listen(silent, { host: here, port: 0, settings });
  const answer = fetch(`http://${here}:${server.port}`);
  await asked;
  await Promise.all([server.close(), expect(answer).rejects.toThrow()]);
  const next = await listen(createServer(), { host: here, port: server.port, settings });
  await next.close();
});

describe('an address that cannot be listened on', () => {
  it.each<[string, (port: number) => Promise<unknown>]>([
    ['A_PORT', (port) => serveHealth({ host: here, port, settings }, { missing: () => [] })],
    ['ADMIN_PORT', (port) => startAdminServer({ host: here, port, token: '', about: {}, routes: {} })],
  ])('names %s when another program has the port', (setting, start) =>
    expect(start(other.port)).rejects.toThrow(
      `${setting}: port ${other.port} is in use by another program; set another port, or stop that program`,
    ),
  );

  it.each(['192.0.2.1', 'no-such-host.invalid'])('names the setting of the host %s', async (host) => {
    await expect(listen(createServer(), { host, port: 0, settings })).rejects.toThrow(
      `A_HOST: ${host} is no address of this machine`,
    );
    await expect(startAdminServer({ host, port: 0, token: '', about: {}, routes: {} })).rejects.toThrow(
      `ADMIN_HOST: ${host} is no address of this machine`,
    );
  });

  it('names the setting of a port that only root may open', () => {
    const refused = Object.assign(new Error('listen EACCES'), { code: 'EACCES' });
    expect(namingSetting(refused, { host: here, port: 80, settings })).toMatchObject({
      message: 'A_PORT: this user may not open port 80; set one above 1023',
      code: 'EACCES',
      cause: refused,
    });
  });

  it('has the system’s message for any other error', () => {
    const error = Object.assign(new Error('listen EMFILE'), { code: 'EMFILE' });
    expect(namingSetting(error, { host: here, port: 80, settings })).toBe(error);
  });
});
