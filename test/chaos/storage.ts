import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ContainerClient } from '@azure/storage-blob';
import { freePort } from '../../sandbox/serviceProcess.ts';

/** A storage account on this machine. Its door is what the service is told; behind it, the store can be made to fail. */
export interface Storage {
  readonly connectionString: string;
  /** How far the checkpoints in a container have come: partition → sequence number. */
  positions(container: string): Promise<Map<string, number>>;
  /** Requests are refused or their connections are reset, for so long. */
  fail(ms: number): Promise<void>;
  /** Requests are kept waiting. */
  slow(ms: number): Promise<void>;
  close(): Promise<void>;
}

const account = 'devstoreaccount1'; // the emulator's own account, and its published key
const key = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';
const emulator = createRequire(import.meta.url).resolve('azurite/dist/src/blob/main.js');

export async function openStorage(): Promise<Storage> {
  const port = await freePort();
  const settings = ['--blobPort', String(port), '--inMemoryPersistence', '--silent', '--skipApiVersionCheck'];
  const emulation = spawn(process.execPath, [emulator, ...settings, '--disableTelemetry'], { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => emulation.once('exit', () => resolve()));
  process.once('exit', () => emulation.kill('SIGKILL'));
  let mood: 'well' | 'failing' | 'slow' = 'well';

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    if (mood === 'failing') {
      if (Math.random() < 0.5) incoming.socket.destroy();
      else outgoing.writeHead(503).end();
      return;
    }
    if (mood === 'slow') await sleep(300 + Math.random() * 700);
    const { method, url, headers } = incoming;
    const onward = request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  }

  const door = createServer((incoming, outgoing) => void pass(incoming, outgoing));
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  while (!(await isThere(port))) await sleep(50);

  async function be(next: typeof mood, ms: number): Promise<void> {
    mood = next;
    await sleep(ms);
    mood = 'well';
  }

  async function positions(container: string): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    const blobs = new ContainerClient(connectionString, container).listBlobsFlat({ includeMetadata: true });
    for await (const { name, metadata } of blobs) {
      const [, partition] = /\/checkpoint\/([^/]+)$/.exec(name) ?? [];
      if (partition !== undefined) found.set(partition, Number(metadata?.['sequencenumber'] ?? -1));
    }
    return found;
  }

  const endpoint = `http://127.0.0.1:${(door.address() as AddressInfo).port}/${account}`;
  const connectionString = `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${key};BlobEndpoint=${endpoint};`;
  return {
    connectionString,
    positions,
    fail: (ms) => be('failing', ms),
    slow: (ms) => be('slow', ms),
    async close() {
      door.closeAllConnections();
      door.close();
      emulation.kill('SIGKILL');
      await ended;
    },
  };
}

const isThere = (port: number) =>
  fetch(`http://127.0.0.1:${port}/`).then(
    () => true,
    () => false,
  );
