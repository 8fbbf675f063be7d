import { table } from '../../scripts/writtenPart.ts';
import type { Measured, Rows } from './figures.ts';
import { partitionsOf, sizes } from './workloads/compared.ts';

export type Run = readonly (Rows & Partial<Measured>)[];

/** The median of a program's figure; undefined when the run has none. */
export function medianIn(run: Run, workload: string, program: string, what: string): number | undefined {
  const { absolute = [] } = run.find((one) => one.workload.name === workload) ?? {};
  const { figures = [] } = absolute.find((one) => one.program === program) ?? {};
  return figures.find((one) => one.what === what)?.figure.median;
}

function rounded(value: number | undefined): string {
  if (value === undefined) return '';
  return value >= 1_000 ? (Math.round(value / 10) * 10).toLocaleString('en') : value.toFixed(0);
}

/** What a message takes, and of which programs of which workload that is known. */
const messages = [
  { message: 'telemetry of 1 KiB that is not ours', workload: 'skip', program: 'service', least: 'no-op' },
  { message: '`model.update` with its acknowledgement', workload: 'update', program: 'service', least: 'floor' },
  { message: 'the same, with backends that take 20 ms', workload: 'waiting', program: 'service, 4', least: '' },
  { message: '`model.create` with its five calls', workload: 'create', program: 'service', least: 'floor' },
  { message: 'a remote method through the front door', workload: 'methods', program: 'front door', least: 'bare' },
] as const;

/** µs of CPU for each message, beside the least program that does the same. */
export function costTable(run: Run): string {
  const cpu = (workload: string, program: string) =>
    rounded(medianIn(run, workload, program, 'CPU') ?? medianIn(run, workload, program, 'CPU of a call'));
  return table(
    ['message', 'µs of CPU', 'the least that it can cost'],
    messages.map(({ message, workload, program, least }) => [message, cpu(workload, program), cpu(workload, least)]),
  );
}

/** What one instance handles, by the number of its partitions; nothing when that was not measured. */
export const sizingTable = (now: Run): string => {
  if (!now.some(({ workload }) => workload.name === 'partitions')) return '';
  return table(
    ['partitions', 'updates a second', 'µs of CPU each', 'memory, MB', 'skips a second', 'µs of CPU each'],
    sizes.map((size) => {
      const update = (what: string) => rounded(medianIn(now, 'partitions', partitionsOf('update', size), what));
      const skip = (what: string) => rounded(medianIn(now, 'partitions', partitionsOf('telemetry', size), what));
      return [String(size), update('messages'), update('CPU'), update('memory'), skip('messages'), skip('CPU')];
    }),
  );
};
