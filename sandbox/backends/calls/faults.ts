import { z } from 'zod';
import { conflict } from '../requests/problem.ts';

export const backendNames = ['informationModel', 'typeRegistry', 'principalManager', 'token'] as const;
export type BackendName = (typeof backendNames)[number];

/** A fault as it is asked for. It strikes calls that match all of `backend`, `method`, `path` and `deviceId`. */
export const faultSchema = z
  .strictObject({
    backend: z.enum(backendNames),
    /** Any method when absent. */
    method: z.enum(['GET', 'POST', 'PUT', 'DELETE']).optional(),
    /** Decoded path without its query; `*` or `{name}` stand for one segment, a last `**` for the rest. Any when absent. */
    path: z.string().max(4096).optional(),
    deviceId: z.string().max(128).optional(),
    /** Calls it strikes before it wears off; for ever when absent. */
    times: z.int().positive().optional(),
    /** Waits this long (milliseconds) before anything else happens. */
    delayMs: z.int().min(0).max(3_600_000).optional(),
    /** Never answers; the call has no effect. */
    hang: z.boolean().optional(),
    /** Answers this status with an error body; no effect. */
    status: z.int().min(200).max(599).optional(),
    /** Further headers for `status` and `garbage`, such as `retry-after` or `location`. */
    headers: z.record(z.string().max(128), z.string().max(4096)).optional(),
    /** Answers text that is not JSON (status 200 unless given); no effect. */
    garbage: z.boolean().optional(),
    /** Resets the connection: before the effect, after it, or in the middle of its answer. */
    reset: z.enum(['before', 'mid-body', 'after-effect']).optional(),
    /** The effect happens and nothing is ever answered. */
    lostAnswer: z.boolean().optional(),
  })
  .refine((f) => f.delayMs !== undefined || f.hang || f.status || f.garbage || f.reset || f.lostAnswer, {
    message: 'a fault needs one of delayMs, hang, status, garbage, reset, lostAnswer',
  });

export type FaultRequest = z.input<typeof faultSchema>;

/** A fault that waits for its calls; `struck` counts those to which it applied. */
export interface Fault extends FaultRequest {
  readonly id: string;
  struck: number;
  /** When it ends, in ISO 8601; absent: when it wears off, or is cleared. */
  readonly until?: string;
}

/** A call as faults see it; `segments` are the decoded path's. */
interface Target {
  readonly backend: BackendName;
  readonly method: string;
  readonly path: string;
  readonly deviceId: string | undefined;
}

function pathFits(pattern: string, path: string): boolean {
  const segments = path.split('/');
  const parts = pattern.split('/');
  const open = parts.at(-1) === '**';
  if (open ? segments.length < parts.length : segments.length !== parts.length) return false;
  return parts.every((part, i) => part === '*' || part === '**' || /^\{.*\}$/.test(part) || part === segments[i]);
}

const fits = (fault: Fault, { backend, method, path, deviceId }: Target): boolean =>
  fault.backend === backend &&
  (fault.method === undefined || fault.method === method) &&
  (fault.path === undefined || pathFits(fault.path, path)) &&
  (fault.deviceId === undefined || fault.deviceId === deviceId);

/** Faults that may wait at once. */
const most = 1000;

/** Misbehaviour on demand, per route. The oldest fault that fits a call strikes it. */
export function createFaults() {
  let faults: Fault[] = [];
  let last = 0;
  function clear(id?: string): number {
    const before = faults.length;
    faults = id === undefined ? [] : faults.filter((fault) => fault.id !== id);
    return before - faults.length;
  }
  return {
    /**
     * Adds a fault, for so many seconds if they are given, and answers it with its id. A wrong shape throws a ZodError, one too
     * many a Problem.
     */
    add(request: FaultRequest, seconds?: number): Fault {
      if (faults.length >= most) throw conflict('Too many faults', `${most} faults wait already`);
      const id = `fault-${++last}`;
      const until = seconds === undefined ? {} : { until: new Date(Date.now() + seconds * 1000).toISOString() };
      const fault: Fault = { ...faultSchema.parse(request), id, struck: 0, ...until };
      faults.push(fault);
      if (seconds !== undefined) setTimeout(clear, seconds * 1000, id).unref();
      return fault;
    },
    /** The fault that strikes this call, if any; counts it. */
    strike(target: Target): Fault | undefined {
      const fault = faults.find((candidate) => fits(candidate, target));
      if (fault && ++fault.struck === fault.times) faults = faults.filter((other) => other !== fault);
      return fault;
    },
    /** Faults that still wait for calls. */
    list: (): readonly Fault[] => faults,
    /** Ends one fault, or all. The answer is how many ended. */
    clear,
  };
}

export type Faults = ReturnType<typeof createFaults>;
