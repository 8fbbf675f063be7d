import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { listening } from '../../iot-hub-emulator/test/support/listening.ts';
import { hubForAll } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import { createServiceConnection } from '../../src/hub/replies/replies.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { diagnoseService } from '../../src/observing/diagnosis.ts';
import { createLog, createTroubles } from '../../src/observing/log.ts';
import { plainService } from '../traps/support/plain.ts';

// The official client against the sandbox hub: what an operator learns of a wrong connection string for replies.

cureHubSdks();

const hub = hubForAll();

const key = /SharedAccessKey=[^;]*/;
const policy = /SharedAccessKeyName=[^;]*/;
const host = /HostName=[^;]*/;

/** Takes connections and ends them, as something does that speaks no TLS. */
const noTls = startForAll(() => listening(createServer((socket) => socket.destroy())));
const replacing = (part: RegExp, text: string) => () => hub.serviceConnectionString.replace(part, text);
const at = (name: string) => replacing(host, `HostName=${name}`);

it.each([
  ['a wrong key', replacing(key, 'SharedAccessKey=d3Jvbmc='), true, /must be those of a policy/],
  ['an unknown policy', replacing(policy, 'SharedAccessKeyName=none'), true, /must be those of a policy/],
  ['a host that is not there', at('no-such-host.invalid'), true, /no such host: compare HostName/],
  ['a port that refuses', at('localhost:1'), true, /nobody answers there: compare HostName/],
  ['a host without TLS', () => at(`localhost:${noTls.port}`)(), true, /breaks the connection off/],
  ['a certificate that is not trusted', () => hub.serviceConnectionString, false, /not trusted: NETWORK_CA_FILE/],
])('%s is logged in one line, with the setting and the remedy', async (_, connectionString, isTrusted, todo) => {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('info', { write: (line) => lines.push(JSON.parse(line)) });
  const troubles = createTroubles(log);
  const newClient = () => plainService({ ...hub, serviceConnectionString: connectionString() }, isTrusted);
  const connection = createServiceConnection({ newClient, answerWithinMs: 20_000, log, troubles });
  try {
    await connection.open();
    expect(connection.isOpen()).toBe(false);
    await expect.poll(() => lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      level: 'warn',
      setting: 'HUB_SERVICE_CONNECTION_STRING',
      hubSaid: expect.not.stringMatching(/^(rhea: connection disconnected)?$/),
      todo: expect.stringMatching(todo),
      msg: 'cannot connect to the hub’s service endpoint; replies wait',
    });
    expect(JSON.stringify(lines)).not.toContain('d3Jvbmc');
  } finally {
    await connection.close();
    troubles.close();
  }
});

it.each([
  ['ERR_TLS_CERT_ALTNAME_INVALID', /that of another host/],
  ['CERT_HAS_EXPIRED', /clock of this machine/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', /breaks the connection off/],
])('%s of the socket has its own remedy', (code, todo) => {
  const socket = Object.assign(new Error('what TLS says'), { code });
  const told = diagnoseService(Object.assign(new Error('not connected'), { amqpError: socket }));
  expect(told).toMatchObject({ hubSaid: 'what TLS says', todo: expect.stringMatching(todo) });
});
