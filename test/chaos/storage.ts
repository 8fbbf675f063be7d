import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ContainerClient } from '@azure/storage-blob';
import { listening } from '../../iot-hub-emulator/test/support/listening.ts';
import { startRotatingAzurite } from '../support/rotatingAzurite.ts';
import { createRandom, type Random } from './random.ts';

/** As much of a dead letter as comes from its message, and why it was parked. */
export interface DeadLetter {
  readonly deviceId: string;
  readonly code: string;
  readonly origin: { readonly hub: string; readonly partition: string };
  readonly attempts: number;
  /** Of the attempt that failed. */
  readonly traceparent: string;
  readonly event: {
    readonly sequenceNumber: number;
    readonly enqueuedTimeUtc: string;
    readonly properties: Readonly<Record<string, string>>;
    readonly body: string;
    readonly isText: boolean;
  };
}

export type Storage = Awaited<ReturnType<typeof openStorage>>;

/** A storage account on this machine. Its door is what the service is told; behind it, the store can be made to fail. */
export async function openStorage() {
  const account = await startRotatingAzurite();
  let used: 0 | 1 = 0;
  let requests = 0;
  let mood: 'well' | 'failing' | 'slow' = 'well';
  let lot = createRandom(0);
  let met = 0;

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    requests += 1;
    if (mood !== 'well') met += 1;
    if (mood === 'failing') {
      if (lot.next() < 0.5) incoming.socket.destroy();
      else outgoing.writeHead(503).end();
      return;
    }
    if (mood === 'slow') await sleep(lot.between(300, 1_000));
    const { method, url, headers } = incoming;
    const onward = request({ host: '127.0.0.1', port: account.port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  }

  const door = await listening(createServer((incoming, outgoing) => void pass(incoming, outgoing)));
  const throughDoor = (which: 0 | 1) =>
    account.connectionStringOf(which).replace(`:${account.port}/`, `:${door.port}/`);
  const other = () => (used === 0 ? 1 : 0);

  function begin(next: typeof mood, random: Random): () => number {
    mood = next;
    lot = random;
    const before = met;
    return () => {
      mood = 'well';
      return met - before;
    };
  }

  async function be(next: typeof mood, ms: number, random: Random): Promise<number> {
    const end = begin(next, random);
    await sleep(ms);
    return end();
  }

  async function* blobsOf(container: string, hub: string) {
    const blobs = new ContainerClient(account.connectionStringOf(used), container);
    for await (const blob of blobs.listBlobsFlat({ includeMetadata: true })) {
      const [, of, partition] = /([^/]+)\/[^/]+\/checkpoint\/([^/]+)$/.exec(blob.name) ?? [];
      if (of === hub && partition !== undefined) yield { ...blob, partition };
    }
  }

  /** How far the checkpoints of an event hub have come: partition → sequence number. */
  async function positions(container: string, hub: string): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    for await (const { partition, metadata } of blobsOf(container, hub))
      found.set(partition, Number(metadata?.['sequencenumber'] ?? -1));
    return found;
  }

  /** The same checkpoints: blob → its etag, which each write changes. */
  async function checkpoints(container: string, hub: string): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for await (const { name, properties } of blobsOf(container, hub)) found.set(name, properties.etag);
    return found;
  }

  async function letters(container: string): Promise<DeadLetter[]> {
    const client = new ContainerClient(account.connectionStringOf(used), container);
    const found: DeadLetter[] = [];
    if (!(await client.exists())) return found;
    for await (const { name } of client.listBlobsFlat()) {
      const text = await client.getBlobClient(name).downloadToBuffer();
      found.push(JSON.parse(text.toString()));
    }
    return found;
  }

  return {
    /** Of its door, with the key that is used. */
    connectionString: () => throughDoor(used),
    otherConnectionString: () => throughDoor(other()),
    /** Has the other key used from now on, and the one before refused. */
    async renewKey() {
      const old = used;
      used = other();
      await account.renew(old);
    },
    requests: () => requests,
    ...{ positions, checkpoints, letters },
    /** Requests are refused or their connections are reset, which `random` decides. Answers a function that ends it, and says how many. */
    breakDown: (random: Random) => begin('failing', random),
    fail: (ms: number, random: Random) => be('failing', ms, random),
    /** For so long, requests are kept waiting for as long as `random` decides. Answers how many. */
    slow: (ms: number, random: Random) => be('slow', ms, random),
    async close() {
      await door.close();
      await account.close();
    },
  };
}
