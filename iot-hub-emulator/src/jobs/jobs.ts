import { type JsonObject, writeJson } from '../values/json.ts';
import { Refusal } from '../values/refusal.ts';

export const jobTypes = ['scheduleUpdateTwin', 'scheduleDeviceMethod'] as const;
export type JobType = (typeof jobTypes)[number];
export type JobStatus = 'queued' | 'running' | 'completed' | 'cancelled';

/** What a job is to do, with each of some devices. Times are in milliseconds since 1970. */
export interface JobPlan {
  readonly jobId: string;
  readonly type: JobType;
  readonly startsAt: number;
  readonly longestMs: number;
  /** As its service wrote it: it goes back to it. */
  readonly described: JsonObject;
  /** The devices, when it starts. */
  targets(): readonly string[];
  /** Rejects with a `Refusal` where it fails. */
  run(deviceId: string): Promise<void>;
}

/** A job as it is now. */
export interface Job {
  readonly plan: JobPlan;
  readonly createdAt: number;
  status: JobStatus;
  endedAt: number | undefined;
  /** Devices, by how far the job is with them. */
  readonly devices: Record<'all' | 'pending' | 'running' | 'succeeded' | 'failed', number>;
}

/** Jobs about many devices. */
export interface Jobs {
  /** Refuses a second job of the same id, and one more when as many wait or run as may be kept. */
  schedule(plan: JobPlan): Job;
  /** Refuses an unknown id, as does `cancel`. */
  get(jobId: string): Job;
  /** Starts with no further device. Refuses a job that has ended. */
  cancel(jobId: string): Job;
  /** The newest first. */
  list(): readonly Job[];
  /** Stop the timers: nothing starts after that. */
  close(): void;
}

const mostKept = 1000;
const mostBytes = 16 * 1024 * 1024;
const atOnce = 10;
const maxTimerMs = 2 ** 31 - 1;

/** Of what its service wrote. */
const sizeOf = (plan: JobPlan | undefined): number => (plan ? 2 * writeJson(plan.described).length : 0);

/** Jobs in memory; the oldest that has ended goes. A device that is not done in the time of its job has failed. */
export function createJobs(now: () => number): Jobs {
  const jobs = new Map<string, Job>();
  const timers = new Map<Job, NodeJS.Timeout>();
  let bytes = 0; // of what services wrote

  const end = (job: Job, status: 'completed' | 'cancelled'): void => {
    clearTimeout(timers.get(job));
    timers.delete(job);
    if (job.status !== 'queued' && job.status !== 'running') return;
    job.status = status;
    job.endedAt = now();
  };

  const start = async (job: Job): Promise<void> => {
    const { plan, devices } = job;
    const left = [...plan.targets()];
    let isLate = false;
    const late = (): void => {
      isLate = true;
      devices.failed += devices.pending + devices.running;
      Object.assign(devices, { pending: 0, running: 0 });
      end(job, 'completed');
    };
    const work = async (): Promise<void> => {
      for (let id = left.shift(); id !== undefined && job.status === 'running'; id = left.shift()) {
        devices.pending -= 1;
        devices.running += 1;
        const isDone = await plan.run(id).then(
          () => true,
          (error: unknown) => {
            if (error instanceof Refusal) return false;
            throw error;
          },
        );
        if (isLate) return;
        devices.running -= 1;
        devices[isDone ? 'succeeded' : 'failed'] += 1;
      }
    };
    job.status = 'running';
    devices.all = left.length;
    devices.pending = left.length;
    timers.set(job, setTimeout(late, Math.min(plan.longestMs, maxTimerMs)).unref());
    await Promise.all(Array.from({ length: atOnce }, work));
    end(job, 'completed');
  };

  const wait = (job: Job): void => {
    const left = job.plan.startsAt - now();
    if (left <= 0) void start(job);
    else timers.set(job, setTimeout(wait, Math.min(left, maxTimerMs), job).unref());
  };

  const get = (jobId: string): Job => {
    const job = jobs.get(jobId);
    if (!job) throw new Refusal('com.microsoft:job-not-found', 'There is no job of this id.');
    return job;
  };

  const makeRoomFor = (size: number): void => {
    while (jobs.size >= mostKept || bytes + size > mostBytes) {
      const [oldest, job] = [...jobs].find(([, { endedAt }]) => endedAt !== undefined) ?? [];
      if (oldest === undefined)
        throw new Refusal(
          'com.microsoft:too-many-jobs',
          `The hub keeps ${mostKept} jobs, of ${mostBytes} bytes in all.`,
        );
      jobs.delete(oldest);
      bytes -= sizeOf(job?.plan);
    }
  };

  return {
    schedule(plan) {
      if (jobs.has(plan.jobId)) throw new Refusal('com.microsoft:job-already-exists', 'There is a job of this id.');
      const size = sizeOf(plan);
      makeRoomFor(size);
      bytes += size;
      const devices = { all: 0, pending: 0, running: 0, succeeded: 0, failed: 0 };
      const job: Job = { plan, createdAt: now(), status: 'queued', endedAt: undefined, devices };
      jobs.set(plan.jobId, job);
      timers.set(job, setTimeout(wait, 0, job).unref()); // the answer says that it is queued
      return job;
    },
    get,
    cancel(jobId) {
      const job = get(jobId);
      if (job.endedAt !== undefined) throw new Refusal('com.microsoft:argument-error', 'The job has ended.');
      end(job, 'cancelled');
      return job;
    },
    list: () => [...jobs.values()].reverse(),
    close() {
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
