import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { registerDevice } from '../../sandbox/device/register.ts';
import { acceptance } from '../../sandbox/live/acceptance.ts';
import { stories } from '../../sandbox/stories/index.ts';
import { begin, runNode } from './commands/run.ts';
import { sandboxForAll } from './testSandbox.ts';

// The acceptance run as the owner of a hub starts it, at the sandbox: it knows a connection string and addresses, or the sandbox's state.

const sandbox = sandboxForAll({ methods: 'running' });
/** Restarts the service when it is asked to, as an owner's platform would. */
const platform = startForAll(async () => {
  const server = createServer(async (_, response) => {
    await sandbox.service?.stop();
    await sandbox.startService();
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    restart: `node -e "fetch('${url}').then(({ ok }) => process.exit(ok ? 0 : 1))"`,
    close: () => void server.close(),
  };
});
const owner = () => ({ HUB_OWNER_CONNECTION_STRING: sandbox.state.hub.ownerConnectionString });
const never = new AbortController().signal;

const begun = (args: readonly string[], environment: Readonly<Record<string, string>> = {}, signal = never) =>
  begin((streams) => acceptance(args, environment, streams, signal));
async function run(...asked: Parameters<typeof begun>) {
  const { code, stdout, stderr } = await begun(...asked).ended;
  return { code, text: stdout + stderr };
}
const inSandbox = () => ['--sandbox', sandbox.directory];
const sent = () => sandbox.hub.journal.list({ kind: 'd2c' }).length;
const isThere = (deviceId: string) => sandbox.hub.registry.get(deviceId) !== undefined;

it('says what it would do, leave behind and cost, and does nothing without --yes', async () => {
  const { code, text } = await run(inSandbox());
  expect([code, sent(), isThere('acceptance')]).toEqual([0, 0, false]);
  const said = text.replace(/\s+/g, ' ');
  expect(said).toMatch(
    /creates the device acceptance .* sends 10 messages.* 23 of the daily quota.*, and 2 for a method/,
  );
  expect(said).toMatch(/types stay for ever.*dead-letters -- delete.*It skips restart: .*Nothing was done/);
});

it('tries everything, removes its device, and passes twice in a row: each run has names of its own', async () => {
  for (const letters of [1, 2]) {
    const { code, text } = await run([...inSandbox(), '--yes', '--restart', platform.restart]);
    expect([code, text]).toEqual([0, expect.stringContaining(`\n${stories.length + 3} ✓  0 ✗  0 –\n`)]);
    expect(isThere('acceptance')).toBe(false);
    const answer = await fetch(`${sandbox.state.service.adminUrl}/dead-letters?device=acceptance`);
    expect(await answer.json()).toMatchObject({ deadLetters: Array(letters).fill({ device: 'acceptance' }) });
  }
});

it('works with a connection string alone, skips by name what that cannot do, and prints JSON', async () => {
  await fetch(`${sandbox.state.backends.adminUrl}/devices`, { method: 'POST', body: '{"deviceId":"of-owner"}' });
  const args = ['scripts/run.js', 'scripts/acceptance.ts', '--yes', '--json', '--device', 'of-owner'];
  const { code, stdout, stderr } = await runNode(args, { ...owner(), NODE_EXTRA_CA_CERTS: sandbox.hub.caFile });
  const { results } = JSON.parse(stdout) as { results: { name: string; result: string }[] };
  expect([code, isThere('of-owner')]).toEqual([0, false]);
  const skipped = results.filter(({ result }) => result === 'skipped').map(({ name }) => name.split(':')[0]);
  expect([results.length, skipped]).toEqual([stories.length + 3, ['method', 'restart', 'dead letter']]);
  expect(stdout + stderr).not.toContain('SharedAccessKey=');
});

it('removes its device after Ctrl-C', async () => {
  const ending = new AbortController();
  const running = begun([...inSandbox(), '--yes', '--restart', 'sleep 600'], {}, ending.signal);
  await expect.poll(running.shown).toContain('✓ method');
  expect(isThere('acceptance')).toBe(true);
  ending.abort();
  expect((await running.ended).code).toBe(130);
  expect(isThere('acceptance')).toBe(false);
});

it('uses a device that is there, and leaves it', async () => {
  const { connectionString } = await registerDevice('that-is-there', sandbox.state);
  const { code } = await run(['--yes'], { ...owner(), DEVICE_CONNECTION_STRING: connectionString });
  expect([code, isThere('that-is-there')]).toEqual([0, true]);
});

describe('fails', () => {
  it('when an answer is wrong, or a restart does not happen, and removes its device', async () => {
    sandbox.backends.faults.add({ backend: 'informationModel', method: 'PUT', times: 1, status: 400 });
    const { code, text } = await run([...inSandbox(), '--yes', '--restart', 'true']);
    expect([code, text]).toEqual([1, expect.stringMatching(/✗ model\.update.*\n(.|\n)*body\.success is false/)]);
    expect(text).toMatch(/✗ restart(.|\n)*was not restarted/);
    expect(isThere('acceptance')).toBe(false);
  });
  it('when answers are missing', async () => {
    await sandbox.service?.stop();
    const { code, text } = await run([...inSandbox(), '--yes', '--wait', '1']);
    expect([code, text.match(/has not come within 1 s/g)?.length]).toEqual([1, stories.length]);
    await sandbox.startService();
  });
  const policy = 'HostName=localhost;SharedAccessKeyName=iothubowner;SharedAccessKey=c2VjcmV0';
  it.each<[string, string[], Readonly<Record<string, string>>, RegExp]>([
    ['no connection string', [], {}, /HUB_OWNER_CONNECTION_STRING must be/],
    ['one of no policy', [], { HUB_OWNER_CONNECTION_STRING: 'HostName=h;SharedAccessKey=c2VjcmV0' }, /of a policy/],
    ['one of no device', [], { DEVICE_CONNECTION_STRING: policy }, /of a device/],
    [
      'an address that is none',
      [],
      { HUB_OWNER_CONNECTION_STRING: policy, METHODS_URL: 'door' },
      /METHODS_URL must be/,
    ],
    ['half of a pair', ['--hinder', 'true'], {}, /--hinder and --release go together/],
    [
      'a hub that is not there',
      ['--yes'],
      { HUB_OWNER_CONNECTION_STRING: policy.replace('localhost', 'localhost:9') },
      /does not make the device/,
    ],
    ['no sandbox', ['--sandbox', 'nowhere'], {}, /No sandbox is running/],
  ])('with %s, in a sentence', async (_, args, environment, says) => {
    const { code, text } = await run(args, environment);
    expect([code, text]).toEqual([3, expect.stringMatching(says)]);
    expect(text).not.toMatch(/c2VjcmV0|^\s+at /m);
  });
});
