import { type Attribute, closed, type Declaration, open } from 'telemetry/declaration.ts';
import {
  type BackendKey,
  backendNames,
  failures,
  httpMethods,
  hubFailures,
  operations,
  type Reason,
  storeFaults,
  storeOperations,
  stores,
  transportFaults,
} from '../protocol/vocabulary.ts';

/** A metric by its kind and its unit, then by what it tells, what an operator makes of it, and its attributes. */
const declare =
  <const K extends Declaration['kind']>(kind: K) =>
  (unit: string, constants: Declaration['constants'] = {}, buckets: readonly number[] = []) =>
  <const A extends readonly Attribute[] = readonly []>(
    what: string,
    use: string,
    attributes: A = [] as readonly Attribute[] as A,
  ): Declaration<K, A> => ({ kind, unit, what, use, attributes, constants, buckets });

export const counter = declare('counter');
export const updowncounter = declare('updowncounter');
export const gauge = declare('gauge');

/** Of durations in seconds. */
export const histogram = (buckets: readonly number[], constants?: Declaration['constants']) =>
  declare('histogram')('s', constants, buckets);

/** Upper bounds in seconds for one request, as the HTTP conventions recommend; attempts have 30 s at most by default. */
export const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30];

/** Upper bounds in seconds for what may take minutes: outages, full queues of devices, deadlines (P2). */
export const longBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];

const backend = closed('device_messaging.backend', 'which backend', Object.keys(backendNames) as BackendKey[]);

const operation = closed('device_messaging.operation', 'what is asked of it; a probe asks whether it is back', [
  ...operations,
  'probe',
]);

const cache = closed('device_messaging.cache', 'what it holds', ['types', 'identities']);

/** Calls to the backends. */
export const backendMetrics = {
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
    'At 50,000 the devices that were not heard of for longest are dropped.',
    [cache],
  ),
};

const store = closed('device_messaging.store', 'which store; the files are those of methods', stores);

/** What keeps checkpoints, dead letters and files, in files or in blobs. */
export const storeMetrics = {
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

const constants = {
  'http.request.method': 'POST',
  'http.route': '/objects/{objectId}/models/{model}/methods/{method}',
};

/** Invocations of remote methods at the front door. */
export const methodMetrics = {
  'http.server.request.duration': histogram([...requestBuckets, 60, 300], constants)(
    'Duration of an invocation of a remote method, from the request until the end of the response',
    'Results by status and reason. Alert when `hub_refuses_us`, `backend_unavailable` or `storage_unavailable` increases.',
    [
      open('http.response.status_code', 'status of the response; absent when there was none'),
      closed('error.type', 'reason of the failure, as in the log; absent after a success', [
        '',
        ...(Object.keys(failures) as Reason[]),
        'caller_gone',
      ]),
    ],
  ),
  'http.server.active_requests': updowncounter('{request}', constants)(
    'Invocations in progress',
    'At 1,000 the front door refuses others: add an instance.',
  ),
  'rpc.client.call.duration': histogram([...requestBuckets, 60, 300], {
    'rpc.system.name': 'iothub',
    'rpc.method': 'invokeMethod',
  })(
    'Duration of one call of a direct method through the hub, until the response of the device',
    'How much of an invocation is the time of the hub and the device. Alert when `refused`, `unavailable` or `quota` increases; `throttled`: more calls than the tier of the hub takes.',
    [
      open('rpc.response.status_code', 'HTTP status of the hub; absent when there was no response'),
      closed('error.type', 'why the device has not responded; absent when it has', ['', ...hubFailures]),
    ],
  ),
};
