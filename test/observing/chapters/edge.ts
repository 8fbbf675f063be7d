import { readdirSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { observeProcess } from '@device-messaging/telemetry/process.ts';
import { vi } from 'vitest';
import type { Configuration } from '../../../edge/src/configuration/read.ts';
import { createReconnecting } from '../../../edge/src/connections/reconnecting.ts';
import { createConcurrencyLimit, createProxy } from '../../../edge/src/invocations/proxy.ts';
import { createSetups } from '../../../edge/src/invocations/setups.ts';
import { createDroppedReplies, type Reply } from '../../../edge/src/modules/messages.ts';
import { createLog } from '../../../edge/src/observing/log.ts';
import { createMeter, type Meter } from '../../../edge/src/observing/metrics.ts';
import type { MeterWithReadings } from '../../../src/observing/metrics.ts';
import { type FileServer, startFileServer } from '../../edge/support/fileServer.ts';
import { by, type Points, pointsOf, times } from '../support/points.ts';
import { fixProcessNumbers, processNumbers } from './process.ts';

/** What invocations, files and connections record at the edge proxy; time passes only where it is said. */

const log = createLog('silent');
const [ofPress, ofLamp, unknown] = ['a', 'b', 'c'].map((digit) => `${digit.repeat(8)}-7f2b-4f0e-8d57-3b8f2f6c9e11`);

type Modules = Configuration['modules'];
const modules = (folder: string): Modules => [
  {
    ...{ id: 'press', objectIds: [ofPress ?? ''], topics_methods_in: 'press/in', topics_methods_out: 'press/out' },
    files: { folder, quotaBytes: 1_000, mostFiles: 10, mode: '0640' },
  },
  {
    ...{ id: 'lamp', objectIds: [ofLamp ?? ''], topics_methods_in: 'lamp/in', topics_methods_out: 'lamp/out' },
    identity: 'line/lamp',
  },
];

/** The clock of durations, which only `pass` moves, and timers that only `expire` lets fire. */
function heldTime() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let now = 1_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  return {
    pass(ms: number) {
      now += ms;
    },
    expire: () => vi.advanceTimersByTime(300_000),
  };
}

type Time = ReturnType<typeof heldTime>;
interface Stage {
  readonly meter: Meter;
  readonly time: Time;
  readonly server: FileServer;
  readonly folder: string;
  readonly setups: ReturnType<typeof createSetups>;
}

const invocationOf = (objectId: string | undefined, more: object = {}) => ({
  ...{ correlationId: 'c', objectId, model: 'svc.device', target: '', method: 'run', timeout: 5 },
  ...more,
});

async function invocations({ meter, time, server, setups }: Stage) {
  let hasRoom = 1;
  let sends = true;
  let isBroken = false;
  const published: string[] = [];
  const broker = {
    ...{ closed: new Promise<string>(() => {}), close: async () => {}, isSubscribedTo: () => true },
    publish: (topic: string) => (sends ? published.push(topic) > 0 : false),
  };
  let downloaded = () => {};
  const proxy = createProxy({
    setup() {
      const { route, fileInputs } = setups.current();
      return {
        route,
        fileInputs: {
          prepare: fileInputs.prepare,
          async download(...given) {
            const result = await fileInputs.download(...given);
            downloaded();
            return result;
          },
        },
      };
    },
    broker() {
      if (isBroken) throw new Error('a defect');
      return broker;
    },
    topics: setups.topics,
    concurrency: createConcurrencyLimit(() => ({ inFlight: 10, inFlightPerModule: hasRoom })),
    droppedReplies: createDroppedReplies(log, meter),
    ...{ log, meter },
  });

  const replyOf = (topic: string, more: Partial<Reply> = {}): Reply => ({
    ...{ topic: topic.replace('/in/run/', '/out/').replace(/\/[^/]*$/, ''), requestId: topic.split('/').at(-1) ?? '' },
    ...{ status: '0', payload: Buffer.alloc(0), isRetained: false, ...more },
  });
  async function invoke(ms: number, invocation: unknown, meanwhile = () => {}) {
    const invoking = proxy.invoke(invocation);
    time.pass(ms);
    meanwhile();
    await invoking;
  }
  const reply = (more: Partial<Reply> = {}) => proxy.receive(replyOf(published.at(-1) ?? '', more));
  const withFile = (image: object) => invocationOf(ofPress, { input: { image: 'a' }, files: { image } });
  const foreign = { url: 'https://elsewhere.example/a', bytes: 1, etag: '"1"' };
  const large = { ...server.signed('large', 'x'), bytes: 2_000 };

  await invoke(101, invocationOf(ofPress), reply);
  await invoke(102, invocationOf(ofLamp), reply);
  await invoke(103, invocationOf(ofLamp, { timeout: 1 }));
  await invoke(104, invocationOf(ofPress, { method: 'a/b' }));
  await invoke(105, invocationOf(ofLamp, { input: { image: 'a' }, files: { image: foreign } }));
  await invoke(106, invocationOf(unknown));
  await invoke(107, invocationOf(unknown, { target: 'line/lamp' }), reply);
  await invoke(108, invocationOf('d'.repeat(8) + (unknown ?? '').slice(8), { target: 'line/lamp' }));
  await invoke(109, withFile(foreign));
  await invoke(110, invocationOf(ofPress), () => reply({ status: 'much' }));
  isBroken = true;
  await invoke(111, invocationOf(ofPress));
  isBroken = false;
  hasRoom = 0;
  await invoke(112, invocationOf(ofPress));
  hasRoom = 1;
  sends = false;
  await invoke(113, invocationOf(ofPress));
  sends = true;
  await invoke(114, withFile(large));
  downloaded = time.expire;
  await invoke(115, withFile(server.signed('slow', 'x')));
  await invoke(116, invocationOf(ofPress), time.expire);
  await times(2, () => proxy.receive(replyOf('press/in/run/none', { isRetained: true })));
  await times(3, () => proxy.receive(replyOf('press/in/run/none')));
  await times(4, () => proxy.receive(replyOf('lamp/in/run/none', { isRetained: true })));
  await times(5, () => proxy.receive(replyOf('lamp/in/run/none')));
  await invoke(117, invocationOf(ofPress), proxy.abort);
  proxy.stop();
  await invoke(118, invocationOf(ofPress));
}

async function downloads({ time, server, folder, setups }: Stage) {
  async function download(ms: number, behave: RequestListener, file: object = {}, end = new AbortController()) {
    server.behave((request, response) => {
      time.pass(ms);
      behave(request, response);
    });
    const image = { ...server.signed('file', 'xx'), etag: '"e"', ...file };
    await setups.current().fileInputs.download('press', new Map([['image', image]]), end.signal);
  }
  const answer =
    (status: number, headers: object = {}, text = 'xx'): RequestListener =>
    (_, response) =>
      void response.writeHead(status, { etag: '"e"', ...headers }).end(text);
  const [waiting, reading] = [new AbortController(), new AbortController()];

  function whileWritten(work: () => void) {
    const before = readdirSync(folder).length;
    const look = () => void setImmediate(() => (readdirSync(folder).length > before ? work() : look()));
    look();
  }

  await download(301, answer(200));
  await download(302, (request) => request.socket.destroy());
  await download(303, () => waiting.abort(), {}, waiting);
  const begin: RequestListener = (_, response) => void response.writeHead(200, { etag: '"e"' }).write('x');
  await download(
    304,
    (request, response) => {
      begin(request, response);
      whileWritten(() => reading.abort());
    },
    {},
    reading,
  );
  await download(305, (request, response) => {
    begin(request, response);
    whileWritten(() => response.destroy());
  });
  await download(306, answer(500));
  await download(307, answer(412));
  await download(308, answer(200, {}, 'xxx'));
  await download(309, answer(200, { 'content-encoding': 'gzip' }));
  await download(310, (request, response) => {
    rmSync(folder, { recursive: true });
    answer(200)(request, response);
  });
}

/** Attempts to connect, which fail before they succeed. */
async function connections(meter: Meter) {
  for (const [name, failing, opening] of [
    ['the hub', 6, 7],
    ['the broker', 8, 9],
  ] as const) {
    let attempts = 0;
    let opened = () => {};
    const isDone = new Promise<void>((resolve) => {
      opened = resolve;
    });
    const connection = createReconnecting({
      ...{ name, log, meter, backoff: { initialMs: 1, maxMs: 1, stableAfterMs: 0 } },
      unstableMessage:
        'the hub closes each connection soon after it opens: does another program use the identity of this proxy?',
      async open() {
        attempts += 1;
        if (attempts <= failing) throw new Error('connection refused');
        const isLast = attempts === failing + opening;
        if (isLast) opened();
        return { closed: isLast ? new Promise(() => {}) : Promise.resolve('closed'), close: async () => {} };
      },
    });
    for (let isOpen = false; !isOpen; )
      isOpen = await Promise.race([isDone.then(() => true), vi.advanceTimersByTimeAsync(2).then(() => false)]);
    await vi.advanceTimersByTimeAsync(0);
    await connection.close();
  }
}

async function record(meter: Meter): Promise<void> {
  const time = heldTime();
  const folder = await mkdtemp(join(tmpdir(), 'edge-metrics-'));
  const server = await startFileServer();
  const files = { hosts: [server.host], loopbackHttp: true, atOnce: 1 };
  const configuration = { modules: modules(folder), files } as unknown as Configuration;
  const setups = createSetups({ configuration, log, meter, resubscribe: async () => {}, reconnect: () => {} });
  try {
    await setups.prepareFolders();
    await invocations({ meter, time, server, folder, setups });
    await downloads({ meter, time, server, folder, setups });
    await connections(meter);
    setups.refuse(['a fault']);
    fixProcessNumbers();
    observeProcess(meter, () => 777_001);
  } finally {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

const invocation = (ms: number, module: string, status: number, type = ''): Points => ({
  [[module && `module=${module}`, `rpc.response.status_code=${status}`, type && `error.type=${type}`]
    .filter(Boolean)
    .join(' ')]: ms / 1000,
});
const file = (ms: number, status: number | undefined, type = ''): Points => ({
  [[status && `http.response.status_code=${status}`, type && `error.type=${type}`].filter(Boolean).join(' ')]:
    ms / 1000,
});

export async function edgeNumbers(): Promise<Readonly<Record<string, Points>>> {
  const meter = createMeter();
  await record(meter);
  return pointsOf(meter as unknown as MeterWithReadings);
}

export const edgePoints: Readonly<Record<string, Points>> = {
  ...processNumbers.points,
  'rpc.server.call.duration': Object.assign(
    {},
    invocation(101, 'press', 200),
    invocation(102 + 107, 'lamp', 200),
    invocation(103, '', 400, 'invalid_invocation'),
    invocation(104, 'press', 400, 'invalid_invocation'),
    invocation(105, 'lamp', 400, 'takes_no_files'),
    invocation(106, '', 404, 'no_module'),
    invocation(108, '', 409, 'other_object'),
    invocation(109, 'press', 502, 'file_not_downloaded'),
    invocation(110, 'press', 502, 'bad_reply'),
    invocation(111, 'press', 502, 'internal_error'),
    invocation(112, 'press', 503, 'overloaded'),
    invocation(113, 'press', 503, 'broker_unavailable'),
    invocation(114, 'press', 503, 'folder_unavailable'),
    invocation(115, 'press', 503, 'too_late'),
    invocation(116, 'press', 504, 'no_reply'),
    invocation(117, 'press', 504, 'aborted'),
    invocation(118, '', 503, 'stopping'),
  ),
  'device_messaging.edge.replies.dropped': {
    ...by('module=press reason', { retained: 2, unknown: 3 }),
    ...by('module=lamp reason', { retained: 4, unknown: 5 }),
  },
  /** Counted by the connection to the hub only: test/edge/hubConnection.test.ts. */
  'device_messaging.edge.responses.lost': { '': 0 },
  'device_messaging.edge.configuration.refused': { '': 1 },
  'device_messaging.edge.connections': {
    ...by('peer=hub result', { failed: 6, opened: 7 }),
    ...by('peer=broker result', { failed: 8, opened: 9 }),
  },
  'http.client.request.duration': Object.assign(
    {},
    file(301, 200),
    file(302, undefined, 'no_connection'),
    file(303, undefined, 'timeout'),
    file(304, 200, 'timeout'),
    file(305, 200, 'connection_lost'),
    file(306, 500, 'status'),
    file(307, 412, 'changed'),
    file(308, 200, 'changed'),
    file(309, 200, 'unexpected'),
    file(310, 200, 'folder'),
  ),
};
