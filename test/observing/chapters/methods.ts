import { vi } from 'vitest';
import { createDeadline } from '../../../src/backends/deadline.ts';
import type { DirectMethodResult } from '../../../src/hub/methods/directMethods.ts';
import { Failure } from '../../../src/methods/failure.ts';
import { createInvoke } from '../../../src/methods/invoke.ts';
import { createInvocationRecords } from '../../../src/observing/invocationRecords.ts';
import { createLog } from '../../../src/observing/log.ts';
import type { Meter } from '../../../src/observing/metrics.ts';
import type { MethodFailure, Reason } from '../../../src/protocol/vocabulary.ts';
import type { Chapter, Points } from '../support/points.ts';

const fieldsOf = (method: string) => ({ correlationId: 'c-1', objectId: 'o', model: 'svc.device', method });

/** Statuses, and the reasons for each. */
const reasons: readonly [status: number, ...reasons: Reason[]][] = [
  [400, 'invalid_request', 'file_not_found', 'file_too_large', 'refused_by_device'],
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'object_not_found', 'method_not_found', 'route_not_found', 'unknown_to_device', 'type_not_found'],
  [408, 'request_timeout'],
  [409, 'no_owner', 'other_object'],
  [413, 'too_large'],
  [415, 'unsupported_media_type'],
  [417, 'expectation_failed'],
  [429, 'throttled'],
  [500, 'internal_error'],
  [502, 'bad_reply', 'failed_at_device', 'invalid_path'],
  [503, 'device_offline', 'device_unknown', 'unavailable_at_device', 'hub_unavailable', 'hub_refuses_us'],
  [503, 'backend_unavailable', 'storage_unavailable', 'overloaded', 'stopping'],
  [504, 'no_reply', 'no_reply_at_device', 'outcome_unknown'],
];

/** How long the request takes, in ms, and its end. Undefined: the caller has gone before the response. */
const requests: readonly [ms: number, status: number | undefined, reason?: Reason][] = [
  [401, 200],
  [402, undefined],
  ...reasons
    .flatMap(([status, ...all]) => all.map((reason) => [status, reason] as const))
    .map((end, index): [number, number, Reason] => [403 + index, ...end]),
];

const failures: readonly [ms: number, status: number | undefined, failure: MethodFailure][] = [
  [302, 404, 'device_offline'],
  [303, 404, 'device_gone'],
  [304, 404, 'device_unknown'],
  [305, 429, 'throttled'],
  [306, 403, 'quota'],
  [307, 401, 'refused'],
  [308, 503, 'unavailable'],
  [309, 413, 'too_large'],
  [310, 502, 'bad_reply'],
  [311, 504, 'no_reply'],
  [312, undefined, 'outcome_unknown'],
  [313, 400, 'invalid'],
  [314, undefined, 'stopped_unsent'],
  [315, undefined, 'stopped'],
];

const invocationsOf = (meter: Meter) => createInvocationRecords({ log: createLog('silent'), meter, hubHost: 'hub' });

function request(meter: Meter) {
  const invocations = invocationsOf(meter);
  for (const [ms, status, reason] of requests) {
    const one = invocations.begin(fieldsOf('stop'));
    vi.advanceTimersByTime(ms);
    one.ended(status, reason && new Failure(reason, 'why'));
  }
}

async function askDevices(meter: Meter) {
  const answers: [ms: number, result: DirectMethodResult][] = [
    [301, { kind: 'response', status: 200, payload: { status: 0 }, text: '{"status":200,"payload":{"status":0}}' }],
    ...failures.map(([ms, status, failure]): [number, DirectMethodResult] => [
      ms,
      { kind: 'failure', failure, ...(status !== undefined && { status }) },
    ]),
  ];
  for (const [ms, result] of answers) {
    const invoke = createInvoke({
      backends: {
        lineageOf: async () => ({
          types: [{ methods: new Map([['stop', new Map()]]), baseTypes: [] }],
          unknown: [],
        }),
      },
      directMethods: {
        async invoke() {
          await new Promise((resolve) => setTimeout(resolve, ms));
          return result;
        },
        ...{ abort() {}, close() {} },
      },
      ...{ recordOutcome() {}, fileInputs: async () => undefined, edgeModule: '' },
    });
    const authorized = {
      ...{
        observation: invocationsOf(meter).begin(fieldsOf('stop')),
        object: { objectId: 'o1', type: 'pump@1' },
        claims: {},
      },
      ...{ route: { device: 'd1', target: '' }, deadline: createDeadline(60) },
    };
    const invoked = invoke(authorized, {}).catch(() => undefined);
    await vi.advanceTimersByTimeAsync(1_000);
    await invoked;
  }
}

/** Status and `error.type` as attributes. */
const ended = (key: string, [ms, status, type]: readonly [number, number | undefined, string?]): Points => {
  const attributes = [status && `${key}=${status}`, type && `error.type=${type}`];
  return { [attributes.filter(Boolean).join(' ')]: ms / 1000 };
};

/** Invocations at the front door; those in progress are told by the whole front door only. */
export const methods: Chapter = {
  async record(meter) {
    request(meter);
    await askDevices(meter);
  },
  points: {
    'http.server.request.duration': Object.assign(
      { 'error.type=caller_gone': 0.402 },
      ...requests.filter(([, status]) => status !== undefined).map((one) => ended('http.response.status_code', one)),
    ),
    'rpc.client.call.duration': Object.assign(
      { 'rpc.response.status_code=200': 0.301 },
      ...failures.map((one) => ended('rpc.response.status_code', one)),
    ),
  },
};
