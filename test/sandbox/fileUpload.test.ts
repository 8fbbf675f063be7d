import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { BlobServiceClient } from '@azure/storage-blob';
import device from 'azure-iot-device';
import mqtt from 'azure-iot-device-mqtt';
import iothub from 'azure-iothub';
import { type Hub, startHub } from 'iot-hub-emulator';
import { leadToHub, trustHub } from 'iot-hub-emulator/clients';
import { issueCertificate } from 'iot-hub-emulator/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { type Azurite, accountKey, accountName, startAzurite } from '../../sandbox/methods/azurite.ts';

// Devices upload files with the official clients, to a storage account that azurite imitates, and services are told of them.

const folder = folderForAll('uploads');
let storage: Azurite;
let hub: Hub;
let blobs: BlobServiceClient;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  const authority = await issueCertificate({ name: 'storage', role: 'authority' });
  const server = await issueCertificate({ name: 'localhost', role: 'server', issuer: authority });
  const file = (name: string, content: string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const certificate = { cert: file('server.pem', server.cert), key: file('server.key', server.key) };
  const trusted = trustHub({ caFile: file('ca.pem', authority.cert) });
  ends.push(() => trusted[Symbol.dispose]());
  storage = await startAzurite({ certificate, loose: true }); // the device client has an older client of the storage in it
  ends.push(() => storage.close());
  const endpoint = `https://127.0.0.1:${storage.port}/${accountName}`;
  const connectionString = `DefaultEndpointsProtocol=https;AccountName=${accountName};AccountKey=${accountKey};BlobEndpoint=${endpoint};`;
  blobs = BlobServiceClient.fromConnectionString(connectionString);
  await blobs.createContainer('uploads');
  hub = await startHub({
    devices: [{ deviceId: 'pump-1' }, { deviceId: 'pump-2' }],
    fileStorage: { connectionString, container: 'uploads', ca: authority.cert },
  });
  ends.push(() => hub.close());
  const believed = trustHub(hub);
  ends.push(() => believed[Symbol.dispose]());
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

async function openDevice(deviceId = 'pump-1'): Promise<device.Client> {
  const client = device.Client.fromConnectionString(hub.deviceConnectionString(deviceId), mqtt.Mqtt);
  onTestFinished(() => void client.close());
  await leadToHub(hub, client);
  await client.open();
  return client;
}

async function notifications() {
  const service = iothub.Client.fromConnectionString(hub.serviceConnectionString);
  onTestFinished(async () => void (await service.close()));
  await service.open();
  const { result: receiver } = (await service.getFileNotificationReceiver()) as never as {
    result: iothub.Client.ServiceReceiver;
  };
  return receiver;
}

const next = async (receiver: iothub.Client.ServiceReceiver) => {
  const [message] = await once(receiver, 'message');
  await receiver.complete(message);
  return JSON.parse(message.data.toString());
};

describe('a device', () => {
  test('uploads a file, and services are told where it is', async () => {
    const receiver = await notifications();
    const told = next(receiver);
    const content = Buffer.alloc(300_000, 'pump');
    const client = await openDevice();
    await client.uploadToBlob('logs/today.txt', Readable.from([content]), content.length);
    const blobName = 'pump-1/logs/today.txt';
    expect(await told).toEqual({
      ...{ deviceId: 'pump-1', blobName, blobSizeInBytes: content.length },
      blobUri: `https://127.0.0.1:${storage.port}/${accountName}/uploads/${blobName}`,
      lastUpdatedTime: expect.stringMatching(/Z$/),
      enqueuedTimeUtc: expect.stringMatching(/Z$/),
    });
    const stored = await blobs.getContainerClient('uploads').getBlobClient(blobName).downloadToBuffer();
    expect(stored.equals(content)).toBe(true);
  });
  test('has a token for that blob alone, and tells once how it ended', async () => {
    const client = await openDevice();
    const grant = await client.getBlobSharedAccessSignature('a file');
    const put = (blobName: string) =>
      fetchStatus('PUT', `https://${grant.hostName}/${grant.containerName}/${encodeURI(blobName)}${grant.sasToken}`);
    expect([await put('pump-2/a file'), await put('pump-1/a file')]).toEqual([403, 201]);
    const end = () => client.notifyBlobUploadStatus(grant.correlationId, true, 200, 'done');
    await end();
    await expect(end()).rejects.toThrow();
  });
  test('has at most ten uploads under way, and others have theirs', async () => {
    const [client, other] = [await openDevice(), await openDevice('pump-2')];
    const grants = [];
    for (let i = 0; i < 10; i += 1) grants.push(await client.getBlobSharedAccessSignature(`file ${i}`));
    await expect(client.getBlobSharedAccessSignature('one more')).rejects.toMatchObject({
      responseBody: expect.stringContaining('DeviceMaximumActiveFileUploadLimitExceeded'),
    });
    await other.getBlobSharedAccessSignature('one more');
    for (const { correlationId } of grants) await client.notifyBlobUploadStatus(correlationId, false, 500, 'lost');
    await client.getBlobSharedAccessSignature('one more');
  });
  test.each(['../pump-2/x', 'a/./b', 'x'.repeat(1024)])('gets no token for the name %.20s', async (name) => {
    const client = await openDevice('pump-2');
    await expect(client.getBlobSharedAccessSignature(name)).rejects.toThrow();
  });
});

async function fetchStatus(method: string, url: string): Promise<number | undefined> {
  const { request } = await import('node:https');
  const asked = request(url, { method, headers: { 'x-ms-blob-type': 'BlockBlob', 'content-length': 0 } }).end();
  const [response] = await once(asked, 'response');
  response.resume();
  return response.statusCode;
}
