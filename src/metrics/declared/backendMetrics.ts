import { closed, counter, gauge, histogram, open, updowncounter } from 'telemetry/declaration.ts';
import { type BackendKey, backendNames, httpMethods, operations, transportFaults } from '../../protocol/vocabulary.ts';
import { requestBuckets } from './buckets.ts';

const backend = closed('device_messaging.backend', 'which backend', Object.keys(backendNames) as BackendKey[]);

const operation = closed('device_messaging.operation', 'what is asked of it; a probe asks whether it is back', [
  ...operations,
  'probe',
]);

const cache = closed('device_messaging.cache', 'what it holds', ['types', 'identities']);

/** Calls to the backends. */
export const backendMetrics = {
  'http.client.request.duration': histogram(
    {
      unit: 's',
      what: 'Duration of one request to a backend',
      use: 'Which backend is slow, or fails, in which operation. Each attempt counts, repeated ones too. The attributes name the backend in place of its address.',
      buckets: requestBuckets,
    },
    backend,
    operation,
    closed('http.request.method', 'method', httpMethods),
    open('http.response.status_code', 'status of the response; absent when there was none'),
    closed('error.type', 'why there was no response; absent when there was one', ['', ...transportFaults]),
  ),
  'device_messaging.backend.retries': counter(
    {
      unit: '{request}',
      what: 'Requests that repeated a failed one of the same call',
      use: 'Trouble that retries still hide from devices.',
    },
    backend,
  ),
  'device_messaging.backend.outages': counter(
    {
      unit: '{outage}',
      what: 'How often the circuit of a backend has opened: calls to it wait until a probe succeeds',
      use: 'Backends that come and go.',
    },
    backend,
  ),
  'device_messaging.backend.out': gauge(
    {
      unit: '1',
      what: '1 while the circuit of the backend is open, else 0',
      use: 'Alert on 1 for five minutes: messages that need the backend wait, and the rest of the partition when half of the room of waiting messages is theirs.',
    },
    backend,
  ),
  'device_messaging.backend.connections': updowncounter(
    {
      unit: '{request}',
      what: 'Requests to the backend that are under way, and those that wait for a connection',
      use: '`waiting` above 0 for minutes: the backend is too slow for `BACKENDS_CONNECTIONS`, or that is too low.',
    },
    backend,
    closed('device_messaging.state', 'under way, or waiting', ['used', 'waiting']),
  ),
  'device_messaging.cache.lookups': counter(
    {
      unit: '{lookup}',
      what: 'Look-ups in the caches of the backends’ answers',
      use: 'The share of `miss` says how much the caches save. `shared`: another message of the device was asking already.',
    },
    cache,
    closed('device_messaging.result', 'whether the answer was there', ['hit', 'miss', 'shared']),
  ),
  'device_messaging.cache.entries': updowncounter(
    {
      unit: '{entry}',
      what: 'Answers of backends that are cached',
      use: 'At 50,000 the devices that were not heard of for longest are dropped.',
    },
    cache,
  ),
} as const;
