import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startHub } from 'iot-hub-emulator';
import { describe, expect, it, vi } from 'vitest';
import { createDirectMethods } from '../../src/hub/methods/directMethods.ts';
import { soon } from '../support/soon.ts';

// What a stop says of the calls that it ends: whether the hub can have got them (M14).

const call = { device: 'motor-1', module: '', payload: {}, timeoutSeconds: 300 };

describe('a call that is ended', () => {
  it('before there is a connection was not sent', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const connection = `HostName=127.0.0.1:${port};SharedAccessKeyName=service;SharedAccessKey=a2V5`;
    const methods = createDirectMethods(connection);
    const called = methods.invoke(call);
    await once(silent, 'connection');
    methods.abort();
    expect(await called).toEqual({ kind: 'failure', failure: 'stopped_unsent' });
    methods.close();
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it('while the hub has it was sent', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'direct-methods-'));
    const hub = await startHub({ directory, devices: [{ deviceId: call.device }] });
    hub.faults.add({ kind: 'method', answer: 'silent' });
    const methods = createDirectMethods(hub.serviceConnectionString, await readFile(hub.caFile, 'utf8'));
    const called = methods.invoke(call);
    await vi.waitFor(() => expect(hub.faults.list()).toMatchObject([{ struck: 1 }]), soon);
    methods.abort();
    expect(await called).toEqual({ kind: 'failure', failure: 'stopped' });
    methods.close();
    await hub.close();
    await rm(directory, { recursive: true });
  });
});
