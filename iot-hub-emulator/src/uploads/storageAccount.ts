import { createHmac } from 'node:crypto';
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { Refusal } from '../values/refusal.ts';

/** Where devices upload files: a container of a storage account that has it already. */
export interface FileStorage {
  /** Of the account, with its key: `AccountName=…;AccountKey=…`, and `BlobEndpoint=…` unless it is Azure's. */
  readonly connectionString: string;
  readonly container: string;
  /** PEM of the authority behind the account's certificate, if Node.js does not believe it anyway. */
  readonly ca?: string;
}

/** What a storage account knows of a blob. */
export interface BlobFacts {
  readonly bytes: number;
  /** ISO 8601. */
  readonly lastModified: string;
}

/** The blobs of a container. */
export interface BlobContainer {
  readonly name: string;
  /** Host, port and account, as an address has them between its scheme and the container. */
  readonly host: string;
  addressOf(blob: string): string;
  /** A token that lets its bearer read and write one blob until then, in milliseconds since 1970. */
  tokenFor(blob: string, until: number): string;
  /** Undefined when there is no such blob, or the account does not answer. */
  look(blob: string, token: string): Promise<BlobFacts | undefined>;
}

const version = '2018-03-28'; // as IoT Hub's tokens have it
const refusal = (sentence: string) => new Refusal('com.microsoft:argument-error', sentence);
const answersWithinMs = 10_000;

const containerName = /^(?=.{3,63}$)[a-z\d]+(-[a-z\d]+)*$/;

/** Refuses a connection string without what is needed, and a name that no container has. */
export function openContainer({ connectionString, container, ca }: FileStorage): BlobContainer {
  const parts = new Map(
    connectionString.split(';').map((part): [string, string] => {
      const at = part.indexOf('=');
      return [part.slice(0, at), part.slice(at + 1)];
    }),
  );
  const [account, key] = [parts.get('AccountName'), parts.get('AccountKey')];
  if (!account || !key)
    throw refusal(
      'The connection string of the storage account has AccountName=… and AccountKey=…, and BlobEndpoint=… unless it is at Azure.',
    );
  const suffix = parts.get('EndpointSuffix') ?? 'core.windows.net';
  const blobEndpoint = parts.get('BlobEndpoint') ?? `https://${account}.blob.${suffix}`;
  if (!URL.canParse(blobEndpoint) || !/^https?:$/.test(new URL(blobEndpoint).protocol))
    throw refusal('BlobEndpoint in the connection string of the storage account is an address: https://…');
  if (!containerName.test(container))
    throw refusal('A container has 3 to 63 lower-case letters, digits, and hyphens between them.');
  const endpoint = new URL(blobEndpoint);
  const host = `${endpoint.host}${endpoint.pathname}`.replace(/\/$/, '');
  const addressOf = (blob: string) =>
    `${endpoint.protocol}//${host}/${container}/${blob.split('/').map(encodeURIComponent).join('/')}`;

  return {
    name: container,
    host,
    addressOf,
    tokenFor(blob, until) {
      const expiry = new Date(until).toISOString().replace(/\.\d+/, '');
      // permissions, start, expiry, resource, identifier, IP, protocol, version, and five headers of the answer
      const signed = [
        'rw',
        '',
        expiry,
        `/blob/${account}/${container}/${blob}`,
        '',
        '',
        '',
        version,
        '',
        '',
        '',
        '',
        '',
      ];
      const sig = createHmac('sha256', Buffer.from(key, 'base64')).update(signed.join('\n')).digest('base64');
      return `?${new URLSearchParams({ sv: version, sr: 'b', sig, se: expiry, sp: 'rw' })}`;
    },
    look: (blob, token) =>
      new Promise((resolve) => {
        const send = endpoint.protocol === 'https:' ? requestTls : requestPlain;
        const asked = send(`${addressOf(blob)}${token}`, {
          method: 'HEAD',
          ca,
          timeout: answersWithinMs,
          agent: false,
        });
        asked.on('response', (response) => {
          response.resume();
          const { 'content-length': length, 'last-modified': modified = '' } = response.headers;
          const isThere = response.statusCode === 200 && !Number.isNaN(Date.parse(modified));
          resolve(isThere ? { bytes: Number(length), lastModified: new Date(modified).toISOString() } : undefined);
        });
        asked.on('timeout', () => asked.destroy());
        asked.on('error', () => resolve(undefined));
        asked.end();
      }),
  };
}
