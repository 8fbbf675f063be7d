import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type Answer, createHttpServer, listenHttp, readBody, splitUrl, type Unanswered } from 'iot-hub-emulator/http';
import type { Journal } from 'iot-hub-emulator/journal';
import { ZodError } from 'zod';
import { createPageFiles, pageHeaders } from '../../page/server/pageFiles.ts';
import type { Told } from '../demonstration/exchange.ts';
import type { Device } from '../device/device.ts';
import { callFrontDoor } from '../invoke/call.ts';
import { callers } from '../invoke/invokeOptions.ts';
import { projectDirectory } from '../state/directories.ts';
import type { SandboxState } from '../state/state.ts';
import { forward } from './forward.ts';
import { invocationExamples, type MessageForm, messageForms } from './messageForms.ts';
import { isOfPage } from './pageAccess.ts';
import { newInvocation, newMessage } from './pageRequests.ts';
import { createSenders } from './senders.ts';

/** The sandbox as the page needs it. */
export interface PageSandbox {
  readonly state: SandboxState;
  readonly journal: Journal;
  /** What the demonstration has said so far. */
  readonly told: readonly Told[];
  connect(deviceId: string): Promise<Device>;
}

/** The web page of a sandbox. */
export interface Page {
  readonly url: string;
  close(): Promise<void>;
}

/** Where `npm run build` puts the page. */
export const pageDirectory = join(projectDirectory, 'page/dist');

const mostBodyBytes = 1024 * 1024;
/** Longer than the front door takes. */
const invocationMs = 330_000;

class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Serves the page and what it asks for: messages and invocations are sent here, everything else is forwarded to the admin
 * ports of hub, backends and service, so that programs can ask for the same (D420).
 */
export async function openPage(sandbox: PageSandbox, port: number, directory = pageDirectory): Promise<Page> {
  const { state, journal, told } = sandbox;
  const files = createPageFiles(directory);
  const senders = createSenders(journal, sandbox.connect);
  let forms: readonly MessageForm[] | undefined;
  const ports: Readonly<Record<string, () => { url: string; isReadOnly: boolean }>> = {
    hub: () => ({ url: state.hub.adminUrl, isReadOnly: false }),
    backends: () => ({ url: state.backends.adminUrl, isReadOnly: false }),
    service: () => ({ url: state.service.adminUrl, isReadOnly: true }),
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<Answer | Unanswered> {
    if (!isOfPage(request)) throw new Refused(403, 'Only the page itself and programs on this machine may ask.');
    const { method = '', url = '' } = request;
    const { path, query } = splitUrl(url);
    const [, first = '', ...rest] = path.split('/');
    const target = ports[first];
    if (target && Object.hasOwn(ports, first) && rest.length > 0) {
      const { url: base, isReadOnly } = target();
      if (isReadOnly && method !== 'GET') throw new Refused(405, 'The page only reads here.');
      forward(new URL(`${base}/${rest.join('/')}${query === '' ? '' : `?${query}`}`), request, response);
      return 'written';
    }
    if (method === 'POST' && path === '/messages')
      return json({ position: await senders.send(newMessage.parse(await bodyOf(request))) });
    if (method === 'POST' && path === '/invocations') return json(await invoke(await bodyOf(request)));
    if (method !== 'GET') throw new Refused(405, `There is no ${method} ${path}.`);
    if (path === '/sandbox') {
      forms ??= messageForms(); // reading a contract takes a second on a busy machine
      return json({ ...describe(state), messages: forms });
    }
    if (path === '/told') return json({ told });
    const file = await files(path.slice(1));
    if (!file) throw new Refused(404, `There is no ${path}. The page is made by: npm run build`);
    response.writeHead(200, { ...file.headers, 'content-length': file.body.length }).end(file.body);
    return 'written';
  }

  async function invoke(asked: unknown): Promise<object> {
    const { caller, input, timeout, ...about } = newInvocation.parse(asked);
    const token = caller === 'none' ? undefined : state.methods?.tokens[caller];
    const members = [
      ...(input === '' ? [] : [`"input":${input}`]),
      ...(timeout === '' ? [] : [`"timeout":${timeout}`]),
    ];
    const since = journal.last;
    const request = { ...about, token, body: `{${members.join(',')}}` };
    const { status, answer, tookMs, correlationId } = await callFrontDoor(state, request, invocationMs);
    const [entry] = journal.list({ since, correlationId });
    return { status, answer, tookMs, position: entry?.position ?? null };
  }

  function explain(error: unknown): Answer {
    const say = (status: number, sentence: string) => json({ error: sentence }, status);
    if (error instanceof Refused) return say(error.status, error.message);
    if (error instanceof ZodError)
      return say(400, error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '));
    return say(502, error instanceof Error ? error.message : String(error));
  }

  const listener = await listenHttp(createHttpServer({ keepAliveMs: 5_000, serve, explain }), port);
  return {
    url: listener.url,
    async close() {
      await Promise.all([listener.close(), senders.close()]);
    },
  };
}

const json = (body: unknown, status = 200): Answer => ({
  status,
  headers: { ...pageHeaders, 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  // A form of a foreign page can send other types without asking first.
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? ''))
    throw new Refused(415, 'The body must be JSON, with content-type application/json.');
  const body = await readBody(request, mostBodyBytes, () => new Refused(413, 'The body is larger than 1 MB.'));
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new Refused(400, 'The body is not JSON.');
  }
}

/** What the page needs to know; without keys and tokens. */
function describe({ startedAt, hub, backends, service, methods }: SandboxState): object {
  const { informationModelUrl, typeRegistryUrl, principalManagerUrl } = backends;
  return {
    startedAt,
    hub: { hostName: hub.hostName, adminUrl: hub.adminUrl },
    backends: {
      ...{ informationModel: informationModelUrl, typeRegistry: typeRegistryUrl },
      ...{ principalManager: principalManagerUrl, token: backends.adminUrl },
    },
    service: { adminUrl: service.adminUrl, logFile: service.logFile },
    methods: methods ? { url: methods.url, callers, examples: invocationExamples() } : null,
  };
}
