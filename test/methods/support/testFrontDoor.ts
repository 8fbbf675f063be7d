import { readFile } from 'node:fs/promises';
import { type Hub, startHub } from 'iot-hub-emulator';
import { expect, vi } from 'vitest';
import { type Backends, startBackends } from '../../../sandbox/backends/backends.ts';
import { createDirectMethods } from '../../../src/hub/methods/directMethods.ts';
import { startFrontDoor } from '../../../src/methods/frontDoor.ts';
import { createLog } from '../../../src/observing/log.ts';
import type { Traces } from '../../../src/observing/observation.ts';
import { readMethodsSettings } from '../../../src/settings/config.ts';
import { invocationLimits } from '../../../src/settings/constants.ts';
import { http, type Reply } from '../../sandbox/backends/client.ts';
import { validateExchange, validateValue } from '../../support/contracts.ts';

export type Line = Readonly<Record<string, unknown>>;

interface TestFrontDoorOptions {
  readonly settings?: Readonly<Record<string, string>>;
  /** Most invocations in flight for one device; by default those of the product. */
  readonly inFlightPerDevice?: number;
  /** By default a new one. */
  readonly hub?: Hub;
  /** By default no spans are recorded. */
  readonly traces?: Traces;
}

export interface CallResult extends Omit<Reply, 'json'> {
  readonly json: { readonly status?: number; readonly output?: Record<string, unknown> };
}

interface CallOptions {
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
  readonly method?: string;
}

/** A front door with a hub and backends, all real. */
export type TestFrontDoor = Awaited<ReturnType<typeof startTestFrontDoor>>;

/** `close` fails the test when the log contains a token or a key. */
export async function startTestFrontDoor({
  settings = {},
  hub: given,
  traces,
  inFlightPerDevice = invocationLimits.inFlightPerDevice,
}: TestFrontDoorOptions = {}) {
  const [hub, backends] = await Promise.all([
    given ?? startHub({ devices: devices.map((deviceId) => ({ deviceId })) }),
    startBackends({ seed: true }),
  ]);
  const read = readMethodsSettings(environment(hub, backends, settings), 'no-such-directory');
  const lines: Line[] = [];
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) });
  const methods = createDirectMethods(read.hub.serviceConnectionString, await readFile(hub.caFile, 'utf8'));
  const options = { ...invocationLimits, inFlightPerDevice };
  const instance = await startFrontDoor(read, log, methods, traces, undefined, options);
  const url = `http://127.0.0.1:${instance.port}`;
  const issue = (name: string, tenant: string, mayInvoke: boolean, seconds = 600) =>
    backends.applications.issue({ name, tenant, mayInvoke }, seconds);
  /** Tokens that the information model accepts. */
  const tokens = {
    invoker: issue('control-room', 'acme', true),
    reader: issue('dashboard', 'acme', false),
    stranger: issue('competitor', 'globex', true),
    expired: issue('control-room', 'acme', true, -1),
  };
  /** Of an object of the example world. */
  const objectIdOf = (object: string) => {
    const found = backends.world.objects.list().find(({ name }) => name === object);
    if (found === undefined) throw new Error(`there is no ${object} in the example world`);
    return found.objectId;
  };
  const pathOf = (object: string, method: string) =>
    `/objects/${objectIdOf(object)}/models/svc.device/methods/${encodeURIComponent(method)}`;

  return {
    ...{ hub, backends, instance, url, lines, tokens, objectIdOf, pathOf },
    /** Invokes a method of an example object, by default with an authorized caller; validates against the contract. */
    async call(object: string, method: string, body: unknown = {}, options: CallOptions = {}): Promise<CallResult> {
      const { token = tokens.invoker, path = pathOf(object, method), method: verb = 'POST' } = options;
      const requestHeaders = {
        ...(token !== '' && { authorization: `Bearer ${token}` }),
        'content-type': 'application/json',
        ...options.headers,
      };
      const reply = await http(url, verb, path, body, requestHeaders);
      const { status, headers, text } = reply;
      const json = text === '' ? undefined : JSON.parse(text);
      const isKnown =
        (/^(\/v1)?\/objects\/[^/]+\/models\/[^/]+\/methods\/[^/]+$/.test(path) && verb === 'POST') ||
        path === '/openapi.json';
      if (isKnown) {
        const described = {
          backend: 'methods',
          method: verb,
          path,
          requestHeaders,
          requestBody: body,
          status,
        } as const;
        expect(validateExchange({ ...described, responseBody: json, responseHeaders: headers })).toEqual([]);
      }
      expect(headers['x-correlation-id']).toMatch(/^[!-~]{1,128}$/);
      expect(headers['www-authenticate']).toBe(status === 401 ? 'Bearer' : undefined);
      if (status >= 400) {
        expect(validateValue('methods', 'Errors', json)).toEqual([]);
        expect(json.errors[0]).toMatchObject({ code: String(status), id: headers['x-correlation-id'] });
        expect(json.errors[0].detail).toMatch(/^\p{L}.{10,}$/u);
      }
      if (status === 429) expect(headers['retry-after']).toMatch(/^\d+$/);
      return { ...reply, json, error: json?.errors?.[0] };
    },
    /** The log line of an invocation. */
    async lineOf(correlationId: unknown): Promise<Line> {
      const isIt = (line: Line) => line['correlationId'] === correlationId && 'durationMs' in line;
      await vi.waitFor(() => expect(lines.filter(isIt)).toHaveLength(1), { timeout: 10_000 });
      return lines.find(isIt) as Line;
    },
    async close() {
      await instance.stop();
      await Promise.all([given ? undefined : hub.close(), backends.close()]);
      const written = JSON.stringify(lines);
      const keys = read.hub.serviceConnectionString.split('SharedAccessKey=')[1] ?? '';
      for (const secret of [...Object.values(tokens), keys, 'sig=']) expect(written).not.toContain(secret);
    },
  };
}

const devices = ['motor-1', 'motor-2', 'gateway-1', 'pump-1'];

/** Objects of the example world that have methods. */
export const conveyor = 'Conveyor motor';
export const idle = 'Idle motor';
export const flap = 'Flap drive';

export const environment = (
  hub: Hub,
  backends: Backends,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> => ({
  ...{ NODE_ENV: 'production', HUB_SERVICE_CONNECTION_STRING: hub.serviceConnectionString },
  ...{ INFORMATION_MODEL_URL: backends.informationModelUrl, TYPE_REGISTRY_URL: backends.typeRegistryUrl },
  ...{ BACKENDS_TOKEN_URL: backends.token.url, BACKENDS_CLIENT_ID: backends.token.clientId },
  ...{ BACKENDS_CLIENT_SECRET: backends.token.clientSecret, METHODS_PORT: '0', HTTP_HOST: '127.0.0.1' },
  ...{ HTTP_PORT: '0', ADMIN_PORT: '0' },
  ...more,
});
