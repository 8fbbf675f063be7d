import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { startHub } from 'iot-hub-emulator';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { portForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { plainService, send, transportOf } from '../traps/support/plain.ts';

// The AMQP library under each client of the hub, which writes to standard error itself.

cureHubSdks();

const load = createRequire(import.meta.url);

/** What the library wrote. */
let told: unknown[][];
beforeEach(() => {
  told = [];
  for (const level of ['warn', 'error'] as const)
    vi.spyOn(console, level).mockImplementation((...words) => void told.push(words));
});
/** It may also fail before. */
const closeOf = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve));

it('the service client prints no warning about a connection that the hub closes', async () => {
  const hub = await startHub({ devices: [{ deviceId: 'pump-1' }] });
  const client = plainService(hub);
  try {
    await send(client, 'pump-1', 'x');
    const { _rheaConnection: connection } = Reflect.get(transportOf(client), '_amqp');
    const closed = closeOf(connection.socket);
    await hub.faults.strike({ kind: 'close', connections: 'service', condition: 'amqp:connection:forced' });
    await closed;
    expect(told).toEqual([]);
  } finally {
    await client.close();
    await hub.close();
  }
});

describe.each(['rhea', 'azure-iothub/node_modules/rhea'])('%s', (library) => {
  const { create_container }: typeof import('rhea') = load(library);

  /** Until the end of a connection on which nobody listens, to a peer that says this and hangs up. */
  async function connect(bytes: Buffer) {
    const port = await portForTest(createServer((socket) => socket.resume().end(bytes)));
    const connection = create_container().connect({ host: '127.0.0.1', port, reconnect: false });
    await closeOf(Reflect.get(connection, 'socket'));
  }

  it('prints no warning about the end of a connection without listeners', async () => {
    await connect(Buffer.alloc(0));
    expect(told).toEqual([]);
  });
  it('does not print the end of an unknown session', async () => {
    await connect(Buffer.from('414d515000010000' + '0000000c02000007' + '00531745', 'hex'));
    expect(told).toEqual([]);
  });

  it('ignores an unknown end of a link without a warning', () => {
    const { unwrap } = load(`${library}/lib/terminus.js`);
    const end = (value: unknown) => unwrap({ descriptor: { value }, value: [] });
    expect([0x28, 'amqp:source:list', 0x29, 'amqp:target:list'].map((one) => end(one) !== null)).toEqual(
      Array(4).fill(true),
    );
    expect([end(0x30), unwrap(null), unwrap({}), told]).toEqual([null, null, null, []]);
  });

  // A version with another place would need another cure.
  it('prints no other warning', () => {
    const folder = dirname(load.resolve(`${library}/lib/connection.js`));
    const warnings = readdirSync(folder)
      .filter((file) => file.endsWith('.js'))
      .flatMap(
        (file) =>
          readFileSync(join(folder, file), 'utf8')
            .match(/console\.warn\(/g)
            ?.map(() => file) ?? [],
      );
    expect(warnings).toEqual(['connection.js', 'message.js', 'message.js', 'terminus.js']);
  });
});
