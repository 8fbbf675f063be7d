import { createExposition } from '@device-messaging/telemetry/exposition.ts';
import {
  closed,
  counter,
  createMeter as createMeterOf,
  gauge,
  histogram,
  type Meter as MeterOf,
  type MeterWithReadings as MeterWithReadingsOf,
  open,
  updowncounter,
} from '@device-messaging/telemetry/meter.ts';
import { observeProcess, processMetrics } from '@device-messaging/telemetry/process.ts';
import { lazy, within } from '../concurrency/waiting.ts';
import {
  type BackendKey,
  backendNames,
  failures,
  httpMethods,
  hubFailures,
  type Reason,
  storeFaults,
  storeOperations,
  stores,
  transportFaults,
} from '../protocol/vocabulary.ts';
import { createTroubles, type LogLines } from './log.ts';
import { messageMetrics, partitionMetrics, replyMetrics, requestBuckets } from './messageMetrics.ts';
import { metricsWanted, type Program, resourceOf } from './traces.ts';

const backend = closed('device_messaging.backend', 'which backend', Object.keys(backendNames) as BackendKey[]);

const operation = open(
  'device_messaging.operation',
  'what is asked of it, as in `details`: `read object model`; `probe` asks whether it is back',
);

const cache = closed('device_messaging.cache', 'what it holds', ['types', 'identities']);

const backendMetrics = {
  'http.client.request.duration': histogram(requestBuckets)(
    'Duration of one request to a backend',
    'Which backend is slow, or fails, in which operation. Each attempt counts, repeated ones too. The attributes name the backend in place of its address.',
    [
      backend,
      operation,
      closed('http.request.method', 'method', httpMethods),
      open('http.response.status_code', 'status of the response; absent when there was none'),
      closed('error.type', 'why there was no response; absent when there was one', ['', ...transportFaults]),
    ],
  ),
  'device_messaging.backend.retries': counter('{request}')(
    'Requests that repeated a failed one of the same call',
    'Trouble that retries still hide from devices.',
    [backend],
  ),
  'device_messaging.backend.outages': counter('{outage}')(
    'How often the circuit of a backend has opened: calls to it wait until a probe succeeds',
    'Backends that come and go.',
    [backend],
  ),
  'device_messaging.backend.out': gauge('1')(
    '1 while the circuit of the backend is open, else 0',
    'Alert on 1 for five minutes: messages that need the backend wait, and the rest of the partition when half of the room of waiting messages is theirs.',
    [backend],
  ),
  'device_messaging.backend.access_refused': gauge('1')(
    '1 while the backend refuses the program’s own token, else 0; what it says to the token of a caller does not count',
    'Alert on 1: the credentials were changed or have expired.',
    [backend],
  ),
  'device_messaging.backend.connections': updowncounter('{request}')(
    'Requests to the backend that are under way, and those that wait for a connection',
    '`waiting` above 0 for minutes: the backend is too slow for `BACKENDS_CONNECTIONS`, or that is too low.',
    [backend, closed('device_messaging.state', 'under way, or waiting', ['used', 'waiting'])],
  ),
  'device_messaging.cache.lookups': counter('{lookup}')(
    'Look-ups in the caches of the backends’ answers',
    'The share of `miss` says how much the caches save. `shared`: another message of the device was asking already.',
    [cache, closed('device_messaging.result', 'whether the answer was there', ['hit', 'miss', 'shared'])],
  ),
  'device_messaging.cache.entries': updowncounter('{entry}')(
    'Answers of backends that are cached',
    'At 32,000, of which a large answer counts as several, the devices that were not heard of for longest are dropped.',
    [cache],
  ),
};

const store = closed('device_messaging.store', 'which store; the files are those of methods', stores);

const storeMetrics = {
  'device_messaging.store.duration': histogram(requestBuckets)(
    'Duration of what is asked of a store, with the repeats after failures',
    'Which store is slow, or fails. Alert on `error.type` for five minutes: `todo` of the log says what to do. Until then, no partition changes hands.',
    [
      store,
      closed('device_messaging.operation', 'what is asked of it', storeOperations),
      closed('error.type', 'it has refused, or was not available; absent when it has done it', ['', ...storeFaults]),
    ],
  ),
  'device_messaging.store.requests': updowncounter('{request}')(
    'What is asked of the store and not answered yet',
    'Above 0 for a minute: the store hangs.',
    [store],
  ),
};

const route = '/objects/{objectId}/models/{model}/methods/{method}';
const constants = { 'http.request.method': 'POST', 'http.route': route };
const methodBuckets = [...requestBuckets, 60, 300];
const reasons = ['', ...(Object.keys(failures) as Reason[]), 'caller_gone'] as const;

export const methodMetrics = {
  'http.server.request.duration': histogram(methodBuckets, constants)(
    'Duration of an invocation of a remote method, from the request until the end of the response',
    'Results by status and reason. Alert when `internal_error` increases: a defect.',
    [
      open('http.response.status_code', 'status of the response; absent when there was none'),
      closed('error.type', 'reason of the failure, as in the log; absent after a success', reasons),
    ],
  ),
  'http.server.active_requests': updowncounter('{request}', constants)(
    'Invocations in progress',
    'Beyond 1,000 that are authorised, the front door refuses others: add an instance before.',
  ),
  'rpc.client.call.duration': histogram(methodBuckets, { 'rpc.system.name': 'iothub', 'rpc.method': 'invokeMethod' })(
    'Duration of one call of a direct method through the hub, until the response of the device',
    'How much of an invocation is the time of the hub and the device. Alert when `refused`, `unavailable` or `quota` increases; `throttled`: more calls than the tier of the hub takes.',
    [
      open('rpc.response.status_code', 'HTTP status of the hub; absent when there was no response'),
      closed('error.type', 'why the device has not responded; absent when it has', ['', ...hubFailures]),
    ],
  ),
};

/** Of service and front door; that of the edge proxy follows from its connections. */
const healthMetrics = {
  'device_messaging.ready': gauge('1')(
    '1 while `/readyz` of the service or the front door is 200, else 0',
    'Alert on 0 for five minutes: `/readyz` says what is missing. There is a value from the first answer of `/metrics` on.',
  ),
};

/** Every metric, by chapter of `docs/metrics.md`. The names are an interface: dashboards and alerts use them (D95). */
export const chapters = {
  Messages: messageMetrics,
  Replies: replyMetrics,
  Partitions: partitionMetrics,
  Backends: backendMetrics,
  Stores: storeMetrics,
  'Remote methods, at the front door': methodMetrics,
  Process: { ...healthMetrics, ...processMetrics },
};

const ofBoth = { ...backendMetrics, ...storeMetrics, ...healthMetrics, ...processMetrics };
const ofService = { ...messageMetrics, ...replyMetrics, ...partitionMetrics, ...ofBoth };

export const metrics = { ...ofService, ...methodMetrics };

export type MetricName = keyof typeof metrics;

const namesOf = (own: object) => Object.keys(own) as MetricName[];
export const namesIn = { service: namesOf(ofService), methods: namesOf({ ...ofBoth, ...methodMetrics }) };

export type Meter = MeterOf<typeof metrics>;
export type MeterWithReadings = MeterWithReadingsOf<typeof metrics>;

export const createMeter = (names: readonly MetricName[] = namesIn.service): MeterWithReadings =>
  createMeterOf(metrics, names);

export const noMeter: Meter = { counter: () => () => {}, histogram: () => () => {}, observe() {} };

export type Metrics = ReturnType<typeof openMetrics>;

/** `names`: the metrics of the program, those of the service when omitted; `env` has the standard variables of OpenTelemetry. */
type MetricsOptions = Program & Readonly<{ names?: readonly MetricName[]; env: NodeJS.ProcessEnv; log: LogLines }>;

/** The last export must not delay a stop. */
const lastExportMs = 2_000;
const source = 'metrics collector';

export function openMetrics({ env, log, names, ...program }: MetricsOptions) {
  const wanted = metricsWanted(env);
  if (!wanted.isOn) return { meter: noMeter, text: undefined, summary: () => ({}), close: async () => {} };
  const meter = createMeter(names);
  const report = { meter, since: Date.now() };
  const stopObserving = observeProcess(meter);
  const troubles = createTroubles(log);
  const message = 'metrics cannot be sent to the collector';
  const raise = (diagnosis: object) => troubles.raise(source, { level: 'warn', message, diagnosis, still: () => ({}) });
  const failed = (error: unknown): undefined => void raise({ err: error });

  /** Nothing waits for it, and its failures are logged (D118). */
  async function startSending(): Promise<(() => Promise<void>) | undefined> {
    if (wanted.isSent && wanted.unusable.length > 0) raise({ unusable: wanted.unusable });
    if (!wanted.isSent || wanted.unusable.length > 0) return undefined;
    const { sendToCollector } = await import('./otlpMetrics.ts');
    const exported = (error?: Error) => (error ? failed(error) : troubles.clear(source));
    return sendToCollector(report, await resourceOf(program), wanted, exported);
  }

  const exposition = lazy(async () => createExposition(meter, labelsOf((await resourceOf(program)).attributes)));
  const sending = startSending().catch(failed);
  return {
    meter: meter as Meter,
    /** All metrics, in the text format of Prometheus; undefined when they are switched off. */
    text: async () => (await exposition())(),
    summary: (): object => summaryOf(meter),
    /** Sends the last values to the collector, if there is one. Ends soon, also when the collector does not answer. */
    async close() {
      const last = sending.then((sendLast) => sendLast?.());
      await within(last, lastExportMs).catch(failed);
      troubles.close();
      stopObserving();
    },
  };
}

/** Attributes by the labels that OpenTelemetry makes of their keys: no digit first; values of keys that become the same are joined. */
export function labelsOf(attributes: object): Record<string, string> {
  const keys = new Map<string, string[]>();
  for (const key of Object.keys(attributes)) {
    const label = key.replaceAll(/\W/g, '_').replace(/^(?=\d)/, 'key_');
    keys.set(label, [...(keys.get(label) ?? []), key].sort());
  }
  return Object.fromEntries(
    Array.from(keys, ([label, same]) => [label, same.map((key) => Reflect.get(attributes, key)).join(';')]),
  );
}

/** Counts since the start, for the last line of the log. */
export function summaryOf({ total }: Pick<MeterWithReadings, 'total'>) {
  const succeeded = total('device_messaging.handled.messages', 'ok');
  const delivered = total('device_messaging.replies', 'delivered');
  return {
    skipped: total('messaging.client.consumed.messages', 'skipped'),
    misspellings: total('device_messaging.misspellings'),
    unattributed: total('messaging.client.consumed.messages', 'unattributed'),
    undecodable: total('messaging.client.consumed.messages', 'undecodable'),
    succeeded,
    failed: total('device_messaging.handled.messages') - succeeded,
    parked: total('device_messaging.dead_letters', 'parked'),
    notParked: total('device_messaging.dead_letters', 'not_parked'),
    repliesDelivered: delivered,
    repliesDropped: total('device_messaging.replies') - delivered,
  };
}
