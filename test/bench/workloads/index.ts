import { backlog } from './backlog.ts';
import { catchingUp } from './catchingUp.ts';
import { create } from './create.ts';
import { edge } from './edge.ts';
import { growth } from './growth.ts';
import { http } from './http.ts';
import { isolation } from './isolation.ts';
import { keys } from './keys.ts';
import { latency } from './latency.ts';
import { methods } from './methods.ts';
import { metrics } from './metrics.ts';
import { partitions } from './partitions.ts';
import { skip } from './skip.ts';
import { smallEvents } from './smallEvents.ts';
import { start } from './start.ts';
import { tracing } from './tracing.ts';
import { update } from './update.ts';
import { waiting } from './waiting.ts';
import type { Workload } from './workload.ts';

/** In the order in which they run. */
export const workloads: readonly Workload[] = [
  skip,
  update,
  metrics,
  tracing,
  create,
  waiting,
  keys,
  isolation,
  latency,
  backlog,
  smallEvents,
  catchingUp,
  http,
  methods,
  edge,
  start,
  growth,
  partitions,
];
