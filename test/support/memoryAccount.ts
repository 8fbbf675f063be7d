import { Readable } from 'node:stream';
import { AnonymousCredential, newPipeline, type StoragePipelineOptions } from '@azure/storage-blob';
import type { AccountAccess } from '../../src/access/access.ts';
import type { Fate } from './lossyProxy.ts';

type HttpClient = NonNullable<StoragePipelineOptions['httpClient']>;
export type HttpRequest = Parameters<HttpClient['sendRequest']>[0];
type HttpResponse = Awaited<ReturnType<HttpClient['sendRequest']>>;

type Blob = Readonly<{ content: string; labels: Readonly<Record<string, string>>; etag: string; modified: number }>;

type Answer = Readonly<{ status: number; headers?: Readonly<Record<string, string>>; body?: string }>;

/** The access to an account that a function answers for: the storage's own client asks it, request for request. */
export function accessTo(sendRequest: HttpClient['sendRequest']): AccountAccess {
  const pipeline = newPipeline(new AnonymousCredential(), {
    httpClient: { sendRequest },
    retryOptions: { maxTries: 1 },
  });
  // In the place of a credential the client takes all that it does with a request.
  return { url: 'https://account.example', credential: pipeline as never };
}

/** A storage account with one container, in the memory of the test. */
export function memoryAccount(clock: () => number = Date.now) {
  const blobs = new Map<string, Blob>();
  const seen: string[] = [];
  let versions = 0;
  const account = {
    access: accessTo(sendRequest),
    /** What it makes of a request, at once. */
    answer: (request: HttpRequest) => responseOf(request, answerTo(request, placeOf(request))),
    refusal: (request: HttpRequest, status: number, code: string) => responseOf(request, error(status, code)),
    blobs,
    /** `PUT name`, `DELETE name`, `GET name`, `LABEL name`; `MAKE`, `LIST prefix` and `ASK` of the container. */
    seen,
    fate: (_asked: string): Fate | Promise<Fate> => 'pass',
    /** Most blobs in one page of a listing. */
    pageSize: 5_000,
    /** Conditions of writes that are kept. */
    keeps: { ifMatch: true, ifNoneMatch: true },
    /** As a tool or another instance would. */
    put(name: string, content = '', labels: Blob['labels'] = {}) {
      versions += 1;
      blobs.set(name, { content, labels, etag: `"${versions}"`, modified: clock() });
    },
  };

  async function sendRequest(request: HttpRequest): Promise<HttpResponse> {
    const { url, name } = placeOf(request);
    const asked = `${verbOf(request, url)} ${name || (url.searchParams.get('prefix') ?? '')}`.trim();
    seen.push(asked);
    const fate = await account.fate(asked);
    if (fate === 'hang') return abortOf(request);
    if (typeof fate === 'number') return account.refusal(request, fate, 'Struck');
    const response = account.answer(request);
    if (fate === 'lose') throw Object.assign(new Error('the way is cut'), { code: 'REQUEST_SEND_ERROR' });
    return response;
  }

  function answerTo(request: HttpRequest, { url: { searchParams }, name }: ReturnType<typeof placeOf>): Answer {
    if (searchParams.get('comp') === 'list') return list(searchParams);
    if (name === '') return { status: request.method === 'PUT' ? 201 : 200 };
    if (request.method === 'PUT') return put(request, name, searchParams.get('comp') === 'metadata');
    const blob = blobs.get(name);
    if (blob === undefined) return error(404, 'BlobNotFound');
    if (request.method === 'DELETE') return { status: blobs.delete(name) ? 202 : 404 };
    const labels = Object.fromEntries(Object.entries(blob.labels).map(([key, value]) => [`x-ms-meta-${key}`, value]));
    const length = { 'content-length': String(Buffer.byteLength(blob.content)) };
    return {
      status: 200,
      headers: { ...labels, ...versionOf(blob), ...length },
      body: request.method === 'HEAD' ? '' : blob.content,
    };
  }

  function put({ headers, body }: HttpRequest, name: string, keepsContent: boolean): Answer {
    const before = blobs.get(name);
    if (account.keeps.ifNoneMatch && headers.get('if-none-match') === '*' && before)
      return error(409, 'BlobAlreadyExists');
    if (keepsContent && before === undefined) return error(404, 'BlobNotFound');
    const expected = account.keeps.ifMatch ? headers.get('if-match') : undefined;
    if (expected !== undefined && expected !== before?.etag) return error(412, 'ConditionNotMet');
    const labels = headers
      .headersArray()
      .flatMap(({ name: header, value }) =>
        /^x-ms-meta-/i.test(header) ? [[header.slice(10).toLowerCase(), value]] : [],
      );
    const content = keepsContent ? (before?.content ?? '') : String(body ?? '');
    const length = keepsContent ? undefined : headers.get('content-length');
    if (length !== undefined && Number(length) !== Buffer.byteLength(content)) return error(400, 'InvalidInput');
    account.put(name, content, Object.fromEntries(labels));
    return { status: keepsContent ? 200 : 201, headers: versionOf(blobs.get(name) as Blob) };
  }

  /** The marker of a page is the name of its first blob, as blobs can be written and deleted between two pages. */
  function list(query: URLSearchParams): Answer {
    const from = query.get('marker') ?? '';
    const names = [...blobs.keys()].filter((name) => name.startsWith(query.get('prefix') ?? '') && name >= from).sort();
    const size = Math.min(account.pageSize, Number(query.get('maxresults') ?? 5_000));
    const page = names.slice(0, size).map((name) => listed(name, blobs.get(name) as Blob));
    const body = `<?xml version="1.0" encoding="utf-8"?><EnumerationResults ServiceEndpoint="https://account.example/" ContainerName="c"><Blobs>${page.join('')}</Blobs><NextMarker>${names[size] ?? ''}</NextMarker></EnumerationResults>`;
    return { status: 200, headers: { 'content-type': 'application/xml' }, body };
  }

  function responseOf(request: HttpRequest, { status, headers = {}, body = '' }: Answer): HttpResponse {
    const isStream = request.streamResponseStatusCodes?.has(status);
    const all = { date: new Date(clock()).toUTCString(), 'x-ms-version': '2025-01-01', ...headers };
    return {
      request,
      status,
      headers: { toJson: () => all, get: (name: string) => (all as Record<string, string>)[name] } as never,
      ...(isStream
        ? { readableStreamBody: Readable.from(body === '' ? [] : [Buffer.from(body)]) }
        : { bodyAsText: body }),
    };
  }

  return account;
}

/** Where a request goes: its address, and the name of its blob. */
function placeOf(request: HttpRequest) {
  const url = new URL(request.url);
  return { url, name: decodeURIComponent(url.pathname.split('/').slice(2).join('/')) };
}

function verbOf({ method }: HttpRequest, { pathname, searchParams }: URL): string {
  const comp = searchParams.get('comp');
  if (comp === 'list') return 'LIST';
  if (comp === 'metadata') return 'LABEL';
  if (pathname.split('/').length > 2) return method === 'HEAD' ? 'GET' : method;
  return method === 'PUT' ? 'MAKE' : 'ASK';
}

const versionOf = ({ etag, modified }: Blob) => ({ etag, 'last-modified': new Date(modified).toUTCString() });

function listed(name: string, { labels, content, etag, modified }: Blob): string {
  const metadata = Object.entries(labels).map(([key, value]) => `<${key}>${value}</${key}>`);
  return `<Blob><Name>${name}</Name><Properties><Last-Modified>${new Date(modified).toUTCString()}</Last-Modified><Etag>${etag.replaceAll('"', '')}</Etag><Content-Length>${Buffer.byteLength(content)}</Content-Length><BlobType>BlockBlob</BlobType></Properties><Metadata>${metadata.join('')}</Metadata></Blob>`;
}

const error = (status: number, code: string): Answer => ({
  status,
  headers: { 'content-type': 'application/xml', 'x-ms-error-code': code },
  body: `<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`,
});

/** Rejects when the client gives the request up. */
export const abortOf = ({ abortSignal }: HttpRequest) =>
  new Promise<never>((_, reject) => {
    const abort = () => reject(Object.assign(new Error('The operation was aborted.'), { name: 'AbortError' }));
    if (abortSignal?.aborted) abort();
    else abortSignal?.addEventListener('abort', abort);
  });
