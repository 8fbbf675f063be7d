import { edge, http, methods } from './calls.ts';
import { create, latency, partitions, skip, update, waiting } from './compared.ts';
import { hub } from './hub.ts';
import { killers } from './killers.ts';
import { bombs, memory } from './memory.ts';
import { idle, start } from './start.ts';
import { tracing } from './tracing.ts';
import { backlog, catchingUp, cold, smallEvents } from './waitingEvents.ts';
import type { Workload } from './workload.ts';

export const workloads: readonly Workload[] = [
  ...[skip, update, tracing, create, waiting, latency, backlog, smallEvents, catchingUp],
  ...[http, methods, edge, start, cold, idle, partitions, memory, bombs, killers, hub],
];
