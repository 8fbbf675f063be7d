import { Readable } from 'node:stream';
import { AnonymousCredential, newPipeline, type StoragePipelineOptions } from '@azure/storage-blob';
import type { AccountAccess } from '../../src/identity/access.ts';
import { type Counts, createCounts } from './coverage.ts';
import { overNetwork, type Process } from './process.ts';
import type { VirtualTime } from './virtualTime.ts';

type HttpClient = NonNullable<StoragePipelineOptions['httpClient']>;
type HttpRequest = Parameters<HttpClient['sendRequest']>[0];
type HttpResponse = Awaited<ReturnType<HttpClient['sendRequest']>>;

/** A storage account in memory. The storage's own client asks it, request for request. */
export interface Account {
  accessFrom(process: Process): AccountAccess;
  readonly requests: Counts;
  /** Requests that it has refused because there were too many. */
  readonly refused: Counts;
  /** How long a request takes, in milliseconds. */
  takesMs: number;
  /** More requests a second are refused. */
  mostPerSecond: number;
  /** Of all requests, this share is refused, as when others use the account up. */
  refusedShare: number;
}

interface Blob {
  readonly labels: Readonly<Record<string, string>>;
  readonly content: string;
  readonly etag: string;
  readonly modified: string;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const labelHeader = 'x-ms-meta-';

/** @param clockAheadMs of the account's clock, to that of the world */
export function createAccount(time: VirtualTime, clockAheadMs: number): Account {
  const blobs = new Map<string, Blob>();
  const requests = createCounts(time.now);
  const refused = createCounts(time.now);
  let versions = 0;

  const account: Account = {
    ...{ requests, refused, takesMs: 8, mostPerSecond: Number.POSITIVE_INFINITY, refusedShare: 0 },
    accessFrom(process) {
      const httpClient: HttpClient = {
        async sendRequest(request) {
          requests.count();
          const isCut = () => process.isCutFrom.storage;
          const answered = overNetwork(account.takesMs, isCut, () => time.outside(() => answerTo(request)));
          return responseOf(request, await Promise.race([answered, abortOf(request)]));
        },
      };
      const pipeline = newPipeline(new AnonymousCredential(), { httpClient, retryOptions: { maxTries: 1 } });
      // In the place of a credential the client takes all that it does with a request.
      return { url: 'https://account.example', credential: pipeline as never };
    },
  };

  const dateNow = () => time.outside(() => new Date(Date.now() + clockAheadMs)).toUTCString();

  function answerTo(request: HttpRequest): Answer {
    const isOthersTurn = account.refusedShare > 0 && Math.random() < account.refusedShare;
    if (isOthersTurn || requests.inSecond(refused) > account.mostPerSecond) {
      refused.count();
      return error(503, 'ServerBusy');
    }
    const url = new URL(request.url);
    const name = decodeURIComponent(url.pathname.split('/').slice(2).join('/'));
    if (url.searchParams.get('restype') === 'container') {
      return url.searchParams.get('comp') === 'list' ? list(url.searchParams.get('prefix') ?? '') : { status: 201 };
    }
    return request.method === 'PUT' ? put(request, name, url.searchParams.get('comp') === 'metadata') : get(name);
  }

  function get(name: string): Answer {
    const blob = blobs.get(name);
    if (blob === undefined) return error(404, 'BlobNotFound');
    const labels = Object.entries(blob.labels).map(([key, value]) => [labelHeader + key, value]);
    const length = String(Buffer.byteLength(blob.content));
    return {
      status: 200,
      headers: { ...Object.fromEntries(labels), ...versionOf(blob), 'content-length': length },
      body: blob.content,
    };
  }

  function put(request: HttpRequest, name: string, keepsContent: boolean): Answer {
    const before = blobs.get(name);
    if (request.headers.get('if-none-match') === '*' && before) return error(409, 'BlobAlreadyExists');
    const expected = request.headers.get('if-match');
    if (expected !== undefined && expected !== before?.etag) return error(412, 'ConditionNotMet');
    versions += 1;
    const labels = request.headers
      .headersArray()
      .flatMap(({ name: header, value }) =>
        header.toLowerCase().startsWith(labelHeader) ? [[header.slice(labelHeader.length).toLowerCase(), value]] : [],
      );
    const content = keepsContent ? (before?.content ?? '') : String(request.body ?? '');
    const blob = { labels: Object.fromEntries(labels), content, etag: `"${versions}"`, modified: dateNow() };
    blobs.set(name, blob);
    return { status: keepsContent ? 200 : 201, headers: versionOf(blob) };
  }

  function list(prefix: string): Answer {
    const found = [...blobs]
      .filter(([name]) => name.startsWith(prefix))
      .sort(([one], [other]) => (one < other ? -1 : 1));
    const body = `<?xml version="1.0" encoding="utf-8"?><EnumerationResults ServiceEndpoint="https://account.example/" ContainerName="checkpoints"><Blobs>${found.map(listed).join('')}</Blobs><NextMarker /></EnumerationResults>`;
    return { status: 200, headers: { 'content-type': 'application/xml' }, body };
  }

  const responseOf = (request: HttpRequest, { status, headers = {}, body = '' }: Answer): HttpResponse => {
    const isStream = request.streamResponseStatusCodes?.has(status);
    return {
      request,
      status,
      headers: { toJson: () => ({ date: dateNow(), 'x-ms-version': '2025-01-01', ...headers }) } as never,
      ...(isStream
        ? { readableStreamBody: Readable.from(body === '' ? [] : [Buffer.from(body)]) }
        : { bodyAsText: body }),
    };
  };

  return account;
}

const versionOf = ({ etag, modified }: Blob) => ({ etag, 'last-modified': modified });

function listed([name, { labels, content, etag, modified }]: [string, Blob]): string {
  const metadata = Object.entries(labels).map(([key, value]) => `<${key}>${escaped(value)}</${key}>`);
  return `<Blob><Name>${escaped(name)}</Name><Properties><Last-Modified>${modified}</Last-Modified><Etag>${etag.replaceAll('"', '')}</Etag><Content-Length>${Buffer.byteLength(content)}</Content-Length><BlobType>BlockBlob</BlobType></Properties><Metadata>${metadata.join('')}</Metadata></Blob>`;
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const error = (status: number, code: string): Answer => ({
  status,
  headers: { 'content-type': 'application/xml', 'x-ms-error-code': code },
  body: `<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`,
});

/** Rejects when the client gives the request up. */
const abortOf = ({ abortSignal }: HttpRequest) =>
  new Promise<never>((_, reject) => {
    const abort = () => reject(Object.assign(new Error('The operation was aborted.'), { name: 'AbortError' }));
    if (abortSignal?.aborted) abort();
    else abortSignal?.addEventListener('abort', abort);
  });
