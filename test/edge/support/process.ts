import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { vi } from 'vitest';
import { spawn } from '../../../sandbox/service/endWithUs.ts';

/** The proxy as deployed: a process with a configuration file. */
export interface EdgeProcess {
  readonly child: ChildProcess;
  readonly healthPort: number;
  /** Resolves with the exit code, or the signal. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

export interface ProcessOptions {
  /** Shell commands or variables before the program. */
  readonly shell?: string;
  /** Options of Node.js. */
  readonly node?: string;
}

export const edgeProgram = 'edge/dist/main.js';

/** @param onLine gets each line of the log */
export async function startEdgeProcess(
  file: string,
  onLine: (line: Record<string, unknown>) => void,
  { shell = '', node = '' }: ProcessOptions,
): Promise<EdgeProcess> {
  const command = `${shell} exec ${process.execPath} ${node} ${edgeProgram} --config ${file}`;
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal);
  let healthPort: unknown;
  createInterface(child.stdout).on('line', (text) => {
    const line: Record<string, unknown> = JSON.parse(text);
    healthPort ??= line['healthPort'];
    onLine(line);
  });
  await vi.waitUntil(() => healthPort !== undefined, { timeout: 120_000 });
  return { child, ended, healthPort: Number(healthPort) };
}
