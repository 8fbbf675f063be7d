import { type Job, type JobPlan, jobTypes } from '../jobs/jobs.ts';
import { pageOf, rangeOf } from '../query/page.ts';
import { parseQuery } from '../query/parse.ts';
import { selectAll } from '../query/select.ts';
import { isObject, type Json, type JsonObject, numeric } from '../values/json.ts';
import { Refusal } from '../values/refusal.ts';
import { methodCallIn } from './methodRoutes.ts';
import { objectIn, type RestRequest, type Route } from './request.ts';
import { twinShape } from './shapes.ts';
import { twinPatchIn } from './twinRoutes.ts';

const service = { rights: ['serviceConnect'] } as const;
const validId = /^[A-Za-z0-9\-:.+%_#*?!(),=@;$']{1,64}$/;
const hour = 3600;

const refused = (sentence: string) => new Refusal('com.microsoft:argument-error', sentence);

/** `*` stands for all devices. */
function conditionIn({ queryCondition }: JsonObject) {
  if (typeof queryCondition !== 'string') throw refused('A job has a queryCondition, as behind WHERE.');
  return parseQuery(
    queryCondition.trim() === '*' ? 'SELECT * FROM devices' : `SELECT * FROM devices WHERE ${queryCondition}`,
  );
}

function startIn(startTime: Json | undefined, now: number): number {
  if (startTime === undefined || startTime === null || startTime === '') return now;
  const at = typeof startTime === 'string' ? Date.parse(startTime) : Number.NaN;
  if (Number.isNaN(at)) throw refused('The startTime of a job is a time in ISO 8601.');
  return at;
}

function planIn(request: RestRequest): JobPlan {
  const { hub, subject: jobId } = request;
  const described = objectIn(request);
  const type = jobTypes.find((one) => one === described['type']);
  if (!type) throw refused(`The type of a job is ${jobTypes.join(' or ')}.`);
  if (!validId.test(jobId)) throw refused('A job id has 1 to 64 characters that are allowed in one.');
  const condition = conditionIn(described);
  const seconds = numeric(described['maxExecutionTimeInSeconds'] ?? hour);
  if (typeof seconds !== 'number' || !(seconds > 0)) throw refused('maxExecutionTimeInSeconds is a number of seconds.');
  const asked = described[type === 'scheduleUpdateTwin' ? 'updateTwin' : 'cloudToDeviceMethod'];
  if (!isObject(asked)) throw refused('A job has an updateTwin or a cloudToDeviceMethod, as its type says.');
  const patch = type === 'scheduleUpdateTwin' ? twinPatchIn(asked) : undefined;
  const call = type === 'scheduleDeviceMethod' ? methodCallIn(asked) : undefined;
  const devices = hub.registry.list;
  return {
    ...{ jobId, type, described, longestMs: seconds * 1000, startsAt: startIn(described['startTime'], hub.now()) },
    targets: () => selectAll(condition, devices(), (device) => twinShape(hub, device)).map(({ deviceId }) => deviceId),
    async run(deviceId) {
      if (patch) {
        hub.throttle.take('twinUpdate');
        hub.twins.change(deviceId, patch);
      } else if (call) await hub.methods.invoke(deviceId, call);
    },
  };
}

const time = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString());

function shape({ plan, createdAt, status, endedAt, devices }: Job): JsonObject {
  const { jobId, type, startsAt, longestMs, described } = plan;
  const { updateTwin = null, cloudToDeviceMethod = null, queryCondition = null } = described;
  return {
    ...{ jobId, type, status, updateTwin, cloudToDeviceMethod, queryCondition },
    ...{ createdTime: time(createdAt), startTime: time(startsAt), endTime: time(endedAt) },
    maxExecutionTimeInSeconds: longestMs / 1000,
    deviceJobStatistics: {
      deviceCount: devices.all,
      ...{ failedCount: devices.failed, succeededCount: devices.succeeded },
      ...{ runningCount: devices.running, pendingCount: devices.pending },
    },
  };
}

const list = ({ hub, query, headers }: RestRequest) => {
  const [type, status] = [query.get('jobType'), query.get('jobStatus')].map((text) => text?.toLowerCase());
  const fits = ({ plan, status: own }: Job) =>
    (type === undefined || plan.type.toLowerCase() === type) && (status === undefined || own === status);
  const [after, count] = [headers['x-ms-continuation'], headers['x-ms-max-item-count']].map((value) =>
    value?.toString(),
  );
  const { items, continuation } = pageOf(hub.jobs.list().filter(fits), rangeOf(after, count));
  const next = continuation === undefined ? {} : { 'x-ms-continuation': continuation };
  return { status: 200, body: items.map(shape), headers: { 'x-ms-item-type': 'JobResponse', ...next } };
};

/** Jobs: a change of twins, or a method, with many devices, now or later. */
export const jobRoutes: readonly Route[] = [
  { method: 'GET', path: '/jobs/v2/query', ...service, handle: list },
  {
    method: 'PUT',
    path: '/jobs/v2/{subject}',
    ...service,
    handle: (request) => ({ status: 200, body: shape(request.hub.jobs.schedule(planIn(request))) }),
  },
  {
    method: 'GET',
    path: '/jobs/v2/{subject}',
    ...service,
    handle: ({ hub, subject }) => ({ status: 200, body: shape(hub.jobs.get(subject)) }),
  },
  {
    method: 'POST',
    path: '/jobs/v2/{subject}/cancel',
    ...service,
    handle: ({ hub, subject }) => ({ status: 200, body: shape(hub.jobs.cancel(subject)) }),
  },
];
