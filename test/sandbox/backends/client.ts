import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { beforeEach } from 'vitest';
import { startForAll } from '../../../iot-hub-emulator/test/support/fixtures.ts';
import { type Backends, type BackendsOptions, startBackends } from '../../../sandbox/backends/backends.ts';
import { validateExchange } from '../../support/contracts.ts';

/** What a backend answered; `json` is the parsed text. */
export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: unknown;
  readonly error:
    | { code: string; title: string; detail: string; id: string; meta: Record<string, unknown> }
    | undefined;
}

export interface Extra {
  readonly headers?: Readonly<Record<string, string>>;
  /** False for calls that no contract describes: unknown routes and methods, faults. */
  readonly described?: boolean;
}

/** Body: text and bytes are sent as they are, other values as JSON. */
export type Send = (method: string, path: string, body?: unknown, extra?: Extra) => Promise<Reply>;

type Backend = 'informationModel' | 'typeRegistry' | 'principalManager';

const agent = new Agent({ keepAlive: true });

/** One HTTP call, its path sent exactly as given. Rejects when the connection ends before the answer does. */
export function http(
  base: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const { hostname, port } = new URL(base);
  const bytes =
    body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const outgoing = request({ agent, hostname, port, method, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const isJson = response.headers['content-type'] === 'application/json';
        const json = isJson ? JSON.parse(text) : undefined;
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json, error: json?.errors?.[0] });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(bytes);
  });
}

export async function fetchToken({ token }: Backends): Promise<string> {
  const client = { client_id: token.clientId, client_secret: token.clientSecret };
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...client });
  const { json } = await http(token.url, 'POST', '/oauth2/token', form.toString());
  return (json as { access_token: string }).access_token;
}

/**
 * The backends with their example world, and a caller for each device: `as('pump-1').im('GET', '/objects/…')`.
 * Every exchange is held against the contracts.
 */
export async function startTestBackends(options: BackendsOptions = {}) {
  const backends = await startBackends({ seed: true, ...options });
  const token = await fetchToken(backends);

  const sender =
    (backend: Backend, deviceId: string): Send =>
    async (method, path, body, { headers = {}, described = true } = {}) => {
      const requestHeaders = {
        authorization: `Bearer ${token}`,
        'x-svc-device-id': encodeURIComponent(deviceId),
        ...headers,
      };
      const reply = await http(backends[`${backend}Url`], method, path, body, requestHeaders);
      const { status, text: responseBody } = reply;
      const requestBody = body instanceof Uint8Array ? undefined : body;
      const exchange = { backend, method, path, requestHeaders, requestBody, status, responseBody };
      const faults = described ? validateExchange(exchange) : [];
      if (faults.length > 0) throw new Error(`${method} ${path} → ${status} breaks its contract: ${faults.join('; ')}`);
      return reply;
    };

  return {
    backends,
    token,
    as: (deviceId: string) => ({
      im: sender('informationModel', deviceId),
      tr: sender('typeRegistry', deviceId),
      pm: sender('principalManager', deviceId),
    }),
    admin: (method: string, path: string, body?: unknown) => http(backends.adminUrl, method, path, body),
    /** The id of the identity with this path: device id, then the connectivity path. */
    idOf: (path: string) => backends.world.principals.list().find((principal) => principal.path === path)?.id ?? '',
    close: () => backends.close(),
  };
}

export type TestBackends = Awaited<ReturnType<typeof startTestBackends>>;

/** Backends for the tests of a file. Each test begins with the example world, unless `keepsWorld`. */
export function useTestBackends({ keepsWorld = false } = {}): TestBackends {
  const test = startForAll(() => startTestBackends());
  beforeEach(() => {
    if (!keepsWorld) test.backends.world.reset();
  });
  return test;
}

export const guid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
