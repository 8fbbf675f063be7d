import { expect, it, onTestFinished, vi } from 'vitest';
import { type AdminRoute, openAdmin, startAdminServer } from '../../src/admin/adminServer.ts';
import { lookAtFleet, readableFleet } from '../../src/admin/fleet.ts';
import { createLog } from '../../src/observing/log.ts';
import { settings } from '../support/environment.ts';

const { names } = vi.hoisted(() => ({ names: new Map<string, string[]>() }));
vi.mock('node:dns/promises', async (original) => {
  const { lookup } = await original<typeof import('node:dns/promises')>();
  return {
    lookup: async (name: string, options: { all: true }) =>
      names.get(name)?.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })) ?? lookup(name, options),
  };
});

const token = 'the-token-of-the-operators';

/** An instance that reads these partitions and knows of the others; the front door reads none. */
async function instance(name: string, reads?: readonly string[], others: readonly string[] = [], own = token) {
  const about = (get: () => unknown): AdminRoute => ({ about: 'what it does', get });
  const routes = {
    '/troubles': about(() => ({ troubles: [{ message: `${name} is in trouble` }], further: 0 })),
    ...(reads && {
      '/partitions': about(() => ({
        partitions: reads.map((partition) => ({ partition, behindSeconds: Number(partition) })),
        elsewhere: others.map((partition) => ({ partition, owner: 'none' })),
      })),
    }),
  };
  const program = { program: reads ? 'service' : 'methods', instance: name, version: '1.1.0' };
  const server = await startAdminServer({ host: '127.0.0.1', port: 0, token: own, about: program, routes });
  onTestFinished(() => server.close());
  return server.port;
}

it('a fleet is what each instance reads, how far it is behind, what is wrong, and what nobody reads', async () => {
  const ports = [await instance('one', ['0', '7'], ['10', '9']), await instance('two', ['9'], ['0', '7', '10'])];
  const door = await instance('door');
  const fleet = await lookAtFleet([...ports, door].map((port) => `127.0.0.1:${port}`).join(' , '), token);
  expect(fleet.unread).toEqual(['10']);
  const text = readableFleet(fleet).replaceAll(/ +/g, ' ');
  expect(text).toBe(
    [
      'address program instance version reads behind troubles',
      `127.0.0.1:${ports[0]} service one 1.1.0 0 7 7 s one is in trouble`,
      `127.0.0.1:${ports[1]} service two 1.1.0 9 9 s two is in trouble`,
      `127.0.0.1:${door} methods door 1.1.0 door is in trouble`,
      'read by no instance: 10\n',
    ].join('\n'),
  );
});

it('a fleet does not know how far an instance is behind that does not know it of a partition', () => {
  const partitions = [7, null].map((behindSeconds, index) => ({ partition: String(index), behindSeconds }));
  expect(readableFleet({ members: [{ address: 'one', partitions }], unread: [] })).toContain('0 1    not known');
});

it('an instance that does not answer, or tells this one nothing, is shown with the reason beside the others', async () => {
  const [good, other] = [await instance('one', ['0']), await instance('two', ['1'], [], 'another-token-of-others')];
  const { members } = await lookAtFleet(`127.0.0.1:${good},127.0.0.1:1,127.0.0.1:${other}`, token);
  expect(members.map(({ error }) => error)).toEqual([
    undefined,
    expect.stringContaining('does not answer'),
    'a bearer token is needed: that of ADMIN_TOKEN',
  ]);
});

it('a name with several addresses stands for each of them', async () => {
  const port = await instance('one', ['0']);
  names.set('fleet.example', ['::1', '127.0.0.1', '127.0.0.1']); // of both families, as a dual-stack cluster has them
  const { members } = await lookAtFleet(`fleet.example:${port}`, token);
  expect(members.map(({ address, instance }) => [address, instance])).toEqual([
    [`127.0.0.1:${port}`, 'one'],
    [`127.0.0.1:${port}`, 'one'],
  ]);
});

it('a name without an address hides no other instance, and is shown with the reason', async () => {
  const port = await instance('one', ['0']);
  const { members } = await lookAtFleet(`fleet.invalid:8082,127.0.0.1:${port}`, token);
  expect(members.map(({ address, error }) => [address, error])).toEqual([
    [
      'fleet.invalid:8082',
      expect.stringMatching(/^the admin port at http:\/\/fleet\.invalid:8082 does not answer: .*(ENOTFOUND|EAI_AGAIN)/),
    ],
    [`127.0.0.1:${port}`, undefined],
  ]);
});

it('the admin port shows the fleet to those whom its instances tell', async () => {
  const port = await instance('one', ['0']);
  const lines: Record<string, unknown>[] = [];
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) });
  const own = { ...settings.admin, port: 0, token, instances: `127.0.0.1:${port}` };
  const admin = await openAdmin({ ...settings, admin: own }, log, { program: 'service' }, {});
  onTestFinished(() => admin.close());
  const url = `http://127.0.0.1:${lines.find(({ adminPort }) => adminPort)?.['adminPort']}/fleet`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  expect(await answer.json()).toMatchObject({ members: [{ instance: 'one' }], unread: [] });
  expect((await fetch(url)).status).toBe(401);
});
