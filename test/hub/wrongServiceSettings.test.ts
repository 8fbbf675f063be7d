import { afterAll, beforeAll, expect, it } from 'vitest';
import { freshHub } from '../../iot-hub-emulator/test/support/hub.ts';
import { createServiceConnection } from '../../src/hub/replies/serviceConnection.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { createLog } from '../../src/log/log.ts';
import { createTroubles } from '../../src/log/troubles.ts';
import { plainService } from '../traps/support/plain.ts';

// The official client against the sandbox hub: what an operator learns of a wrong connection string for replies.

cureHubSdks();

let hub: Awaited<ReturnType<typeof freshHub>>;
beforeAll(async () => {
  hub = await freshHub();
});
afterAll(() => hub.stop());

const key = /SharedAccessKey=[^;]*/;
const policy = /SharedAccessKeyName=[^;]*/;

it.each([
  [
    'a wrong key',
    () => hub.serviceConnectionString.replace(key, 'SharedAccessKey=d3Jvbmc='),
    true,
    /must be those of a policy/,
  ],
  [
    'an unknown policy',
    () => hub.serviceConnectionString.replace(policy, 'SharedAccessKeyName=none'),
    true,
    /must be those of a policy/,
  ],
  ['a certificate that is not trusted', () => hub.serviceConnectionString, false, /NODE_EXTRA_CA_CERTS/],
])('%s is told in one line, with the setting and what to do', async (_, connectionString, isTrusted, todo) => {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('info', { write: (line) => lines.push(JSON.parse(line)) });
  const troubles = createTroubles(log);
  const newClient = () => plainService({ ...hub, serviceConnectionString: connectionString() }, isTrusted);
  const connection = createServiceConnection({ newClient, answerWithinMs: 1_000, log, troubles });
  try {
    await connection.open();
    expect(connection.isOpen()).toBe(false);
    await expect.poll(() => lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      level: 'warn',
      setting: 'HUB_SERVICE_CONNECTION_STRING',
      hubSaid: expect.stringMatching(/./),
      todo: expect.stringMatching(todo),
      msg: 'cannot connect to the hub’s service endpoint; replies wait',
    });
    expect(JSON.stringify(lines)).not.toContain('d3Jvbmc');
  } finally {
    await connection.close();
    troubles.close();
  }
});
