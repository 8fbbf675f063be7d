import { performance } from 'node:perf_hooks';
import { observeProcess } from '@device-messaging/telemetry/process.ts';
import { vi } from 'vitest';
import type { Chapter } from '../support/points.ts';

/** Gives the process numbers that are known; Node's own measurements are replaced by `measured.ts`. */
export function fixProcessNumbers(): void {
  vi.spyOn(performance, 'eventLoopUtilization').mockReturnValue({ utilization: 0.42, idle: 0.43, active: 0.44 });
  vi.spyOn(process, 'cpuUsage').mockReturnValue({ user: 3_100_000, system: 3_200_000 });
  vi.spyOn(process.memoryUsage, 'rss').mockReturnValue(2_005);
  vi.spyOn(process, 'uptime').mockReturnValue(3.3);
}

export const processNumbers: Chapter = {
  record(meter) {
    fixProcessNumbers();
    observeProcess(meter, () => 777_001);
  },
  points: {
    'nodejs.eventloop.delay.min': { '': 0.62 },
    'nodejs.eventloop.delay.max': { '': 0.63 },
    'nodejs.eventloop.delay.mean': { '': 0.624 },
    'nodejs.eventloop.delay.stddev': { '': 0.706 },
    'nodejs.eventloop.delay.p50': { '': 0.625 },
    'nodejs.eventloop.delay.p99': { '': 0.6299 },
    'nodejs.eventloop.utilization': { '': 0.42 },
    'device_messaging.log.lines.dropped': { '': 777_001 },
    'process.cpu.time': { 'cpu.mode=user': 3.1, 'cpu.mode=system': 3.2 },
    'process.memory.usage': { '': 2_005 },
    'process.uptime': { '': 3.3 },
    'v8js.memory.heap.used': { 'v8js.heap.space.name=new_space': 2_001, 'v8js.heap.space.name=old_space': 2_003 },
    'v8js.memory.heap.limit': { 'v8js.heap.space.name=new_space': 2_002, 'v8js.heap.space.name=old_space': 2_004 },
  },
};
