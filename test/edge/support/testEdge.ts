import type { ChildProcess } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Stamps } from '@device-messaging/telemetry/files.ts';
import { type Authentication, type Hub, startHub } from 'iot-hub-emulator';
import { type Issued, issueCertificate } from 'iot-hub-emulator/testing';
import mqtt from 'mqtt';
import { expect, vi } from 'vitest';
import { readConfiguration } from '../../../edge/src/configuration/read.ts';
import { startEdge } from '../../../edge/src/edge.ts';
import { createLog } from '../../../edge/src/observing/log.ts';
import { type BrokerUser, startBroker } from '../../../sandbox/edge/broker.ts';
import { spawn } from '../../../sandbox/service/endWithUs.ts';
import { Failure } from '../../../src/methods/failure.ts';
import { readMethodResponse } from '../../../src/methods/methodResponse.ts';
import { breachesOfModule } from '../../support/modulesContract.ts';
import { busObject, pressObject } from './testProxy.ts';

export interface Received {
  readonly topic: string;
  /** The segment before the request id: the method, or `$proxy`. */
  readonly method: string;
  readonly requestId: string;
  readonly text: string;
  readonly isRetained: boolean;
  reply(status: number | string, payload?: unknown): void;
}

export type TestModule = Awaited<ReturnType<typeof connectModule>>;

interface ModuleOptions {
  readonly url: string;
  readonly id: string;
  readonly answer?: (request: Received) => void;
}

/** The user name and the prefix of the topics are the id of the module. */
export async function connectModule({ url, id, answer }: ModuleOptions) {
  const client = await mqtt.connectAsync(url, { username: id, password: `${id}-secret`, reconnectPeriod: 50 });
  client.on('error', () => {});
  const received: Received[] = [];
  const takers: ((request: Received) => void)[] = [];
  let taken = 0;
  const take = () => {
    const request = received[taken];
    const taker = request && takers.shift();
    if (!request || !taker) return;
    taken += 1;
    taker(request);
  };
  client.on('message', (topic, payload, { retain }) => {
    const [method = '', requestId = ''] = topic.split('/').slice(-2);
    const request: Received = {
      ...{ topic, method, requestId, text: payload.toString(), isRetained: retain },
      reply(status, body) {
        const text =
          body === undefined ? '' : typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
        client.publish(`${id}/out/${status}/${requestId}`, text);
      },
    };
    received.push(request);
    take();
    answer?.(request);
  });
  await client.subscribeAsync(`${id}/in/#`);
  return {
    client,
    received: received as readonly Received[],
    /** The next request that has not been returned yet. */
    next() {
      const next = new Promise<Received>((resolve) => takers.push(resolve));
      take();
      return next;
    },
    publish: (topic: string, payload: string | Buffer, retain = false) =>
      void client.publish(topic, payload, { retain }),
    close: () => client.endAsync(true),
  };
}

/** The proxy as deployed: a process with a configuration file. */
interface EdgeProcess {
  readonly child: ChildProcess;
  readonly healthPort: number;
  /** Resolves with the exit code, or the signal. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

interface ProcessOptions {
  /** Shell commands or variables before the program. */
  readonly shell?: string;
  /** Options of Node.js. */
  readonly node?: string;
}

export const edgeProgram = 'edge/dist/main.js';

/** @param onLine gets each line of the log */
async function startEdgeProcess(
  file: string,
  onLine: (line: Record<string, unknown>) => void,
  { shell = '', node = '' }: ProcessOptions,
): Promise<EdgeProcess> {
  const command = `${shell} exec ${process.execPath} ${node} ${edgeProgram} --config ${file}`;
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal);
  let healthPort: unknown;
  createInterface(child.stdout).on('line', (text) => {
    const line: Record<string, unknown> = JSON.parse(text);
    healthPort ??= line['healthPort'];
    onLine(line);
  });
  await vi.waitUntil(() => healthPort !== undefined, { timeout: 120_000 });
  return { child, ended, healthPort: Number(healthPort) };
}

type Line = Readonly<Record<string, unknown>>;

/** Payload of the response to a direct method, as a front door reads it. */
type ResponsePayload = Readonly<{
  detail?: string;
  invoked?: string;
  status?: number;
  output?: Record<string, unknown>;
}>;

interface Call {
  readonly objectId?: string;
  readonly target?: string;
  readonly method?: string;
  readonly timeout?: number;
  readonly input?: Record<string, unknown>;
  readonly files?: Record<string, unknown>;
}

/** A hub, a broker and an edge proxy between them, all real. */
export type TestEdge = Awaited<ReturnType<typeof startTestEdge>>;

export interface TestEdgeOptions {
  readonly limits?: object;
  readonly files?: object;
  /** Sign in with a certificate in files, `device.pem` and `device.key` of the folder. */
  readonly hasCertificate?: boolean;
  readonly process?: ProcessOptions;
  /** WebSockets to the hub, whose authority is trusted everywhere. */
  readonly isNarrow?: boolean;
  /** Neither hub nor broker is there. */
  readonly isAlone?: boolean;
  readonly users?: Readonly<Record<string, BrokerUser>>;
}

export const users: Readonly<Record<string, BrokerUser>> = {
  'edge-proxy': {
    password: 'edge-proxy-secret',
    publish: ['press/in/#', 'bus/in/#', 'camera/in/#'],
    subscribe: ['press/out/#', 'bus/out/#', 'camera/out/#'],
  },
  press: { password: 'press-secret', publish: ['press/out/#'], subscribe: ['press/in/#'] },
  camera: { password: 'camera-secret', publish: ['camera/out/#'], subscribe: ['camera/in/#'] },
  bus: { password: 'bus-secret', publish: ['bus/out/#'], subscribe: ['bus/in/#'] },
};

/** `close` fails the test when the log contains a secret or a request violates the contract. */
export async function startTestEdge(options: TestEdgeOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'edge-'));
  const files = join(folder, 'press');
  const own = options.hasCertificate ? await issueCertificate({ name: 'edge-1', role: 'client' }) : undefined;
  if (own) await writeCertificate(folder, own);
  const hub = await startHub({
    directory: join(folder, 'hub'),
    devices: [{ deviceId: 'edge-1', ...(own && { authentication: authenticationBy(own) }) }],
  });
  const connectionString = hub.deviceConnectionString('edge-1');
  const allowed = options.users ?? users;
  let broker = await startBroker({ users: allowed });
  if (options.isAlone) await Promise.all([broker.close(), hub.close()]);

  const file = join(folder, 'edge-proxy.json');
  const written = {
    ...(options.isNarrow
      ? { hub: { connectionString, webSockets: true, ...(own && certificateFiles) }, network: { caFile: hub.caFile } }
      : { hub: { connectionString, caFile: hub.caFile, ...(own && certificateFiles) } }),
    broker: { url: broker.url, username: 'edge-proxy', password: 'edge-proxy-secret' },
    modules: [
      {
        ...{ id: 'press', objectIds: [pressObject], topics_methods_in: 'press/in', topics_methods_out: 'press/out' },
        files: { folder: files },
      },
      {
        ...{ id: 'bus', topics_methods_in: 'bus/in', topics_methods_out: 'bus/out' },
        gateway: { objectIds: [busObject], targets: ['line'] },
      },
      { id: 'camera', identity: 'camera', topics_methods_in: 'camera/in', topics_methods_out: 'camera/out' },
    ],
    ...{ files: options.files ?? {}, limits: options.limits ?? {}, health: { host: '127.0.0.1', port: 0 } },
    log: { level: 'debug' },
  };
  await writeFile(file, JSON.stringify(written), { mode: 0o600 });
  const stamps: Stamps = new Map();
  const configuration = await readConfiguration(file, stamps);
  const lines: Line[] = [];
  const onLine = (line: Line) => void lines.push(line);
  const startProgram = () => startEdgeProcess(file, onLine, options.process ?? {});
  let program = options.process && (await startProgram());
  const proxy =
    program ??
    (await startEdge(configuration, createLog('debug', { write: (line) => onLine(JSON.parse(line)) }), {
      path: file,
      stamps,
      everyMs: 25,
    }));
  const modules: TestModule[] = [];

  const ask = (path: string) => fetch(`http://127.0.0.1:${(program ?? proxy).healthPort}${path}`);
  async function readyz() {
    const response = await ask('/readyz');
    const { waitingFor = [] } = (await response.json()) as { waitingFor?: string[] };
    return { status: response.status, waitingFor };
  }

  const edge = {
    hub,
    get broker() {
      return broker;
    },
    /** Undefined when the proxy runs in the process of the test. */
    get process() {
      return program;
    },
    /** Puts another file in the place of the configuration, as editors and deployments do. */
    async rewrite(change: Readonly<Record<string, unknown>>) {
      const text = JSON.stringify({ ...written, ...change }, undefined, 1);
      await writeFile(`${file}.next`, text, { mode: 0o600 });
      await rename(`${file}.next`, file);
    },
    async restart() {
      program = await startProgram();
    },
    /** The folder of the module press, and the modules of the configuration at the start. */
    ...{ files, modules: written.modules as readonly Readonly<Record<string, unknown>>[] },
    ...{ folder, configuration, lines: lines as readonly Line[], readyz },
    ready: () =>
      vi.waitFor(async () => expect(await readyz()).toEqual({ status: 200, waitingFor: [] }), { timeout: 30_000 }),
    async metrics() {
      const response = await ask('/metrics');
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
      return response.text();
    },
    /** Calls `invokeMethod` of the proxy's identity through the hub; the response must be valid for a front door (M7, M8). */
    async call(called: Call = {}) {
      const { objectId = pressObject, target = '', method = 'stop', timeout = 20, input, files: given } = called;
      const payload = {
        ...{ correlationId: 'c-1', objectId, model: 'svc.device', target, method, timeout },
        ...(input && { input }),
        ...(given && { files: given }),
      };
      const { status, payload: written } = await hub.methods.invoke('edge-1', {
        methodName: 'invokeMethod',
        payload: payload as Parameters<Hub['methods']['invoke']>[1]['payload'],
        responseTimeoutMs: timeout * 1000,
        connectTimeoutMs: 0,
      });
      const read = { status, payload: JSON.parse(written) as ResponsePayload };
      try {
        const text = `{"status":${status},"payload":${written}}`;
        expect(readMethodResponse({ ...read, text })).toEqual(read.payload);
        return { ...read, reason: undefined };
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        const { detail, invoked, status: methodStatus, ...more } = read.payload;
        expect(more).toEqual({});
        expect(detail).toMatch(/^.{10,300}$/s);
        expect(['yes', 'no', 'unknown']).toContain(invoked);
        if (methodStatus !== undefined) expect([read.status, methodStatus % 1]).toEqual([502, 0]);
        return { ...read, reason: error.reason };
      }
    },
    async module(id: 'press' | 'camera', answer?: (request: Received) => void) {
      const module = await connectModule({ url: broker.url, id, ...(answer && { answer }) });
      modules.push(module);
      return module;
    },
    stopBroker: () => broker.close(),
    async startBroker() {
      broker = await startBroker({ users: allowed, port: broker.port });
    },
    async close() {
      await Promise.all(modules.map((module) => module.close()));
      if ('stop' in proxy) await proxy.stop();
      program?.child.kill('SIGKILL');
      await program?.ended;
      await Promise.all([broker.close(), hub.close()].map((closing) => closing.catch(() => {})));
      await rm(folder, { recursive: true, force: true });
      const requests = modules.flatMap(({ received }) => received);
      const breaches = requests.flatMap((one) => breachesOfModule('in', one.topic.replace(/^\w+\/in\//, ''), one.text));
      expect(breaches, 'requests that violate the contract').toEqual([]);
      const key = connectionString.split('SharedAccessKey=')[1] ?? own?.key.split('\n')[1];
      for (const secret of [key, 'edge-proxy-secret', 'sig=']) expect(JSON.stringify(lines)).not.toContain(secret);
    },
  };
  if (!options.isAlone && !options.users) await edge.ready();
  return edge;
}

const certificateFiles = { certificateFile: 'device.pem', keyFile: 'device.key' };

/** Puts a certificate and its key where the configuration names them: one after the other, the certificate first. */
export async function writeCertificate(folder: string, { cert, key }: Issued): Promise<void> {
  await writeFile(join(folder, certificateFiles.certificateFile), cert);
  await writeFile(join(folder, certificateFiles.keyFile), key, { mode: 0o600 });
}

/** How a device proves who it is that has one of these certificates. */
export function authenticationBy(...certificates: readonly Issued[]): Authentication {
  const [primaryThumbprint, secondaryThumbprint] = certificates.map(({ cert }) =>
    new X509Certificate(cert).fingerprint256.replaceAll(':', ''),
  );
  return { type: 'selfSigned', primaryThumbprint, secondaryThumbprint };
}
