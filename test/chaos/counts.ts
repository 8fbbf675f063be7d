import { setTimeout as sleep } from 'node:timers/promises';
import { parseMetrics } from '../support/prom.ts';
import type { Finding } from './checker.ts';
import type { Instance } from './instance.ts';
import { ourFault } from './traces.ts';

type Line = Readonly<Record<string, unknown>>;

/** Series → its value; those that are 0 are left out. */
type Counts = ReadonlyMap<string, number>;

const names = new Set([
  ...['model.create', 'model.update', 'type.create', 'reference.create', 'identity.update', 'identity.delete'],
  ...['Svc.Device.Created', 'Svc.Device.Updated', 'Svc.Device.SyncModel'],
]);
/** Whether a line says that a limit, or the store, has refused a dead letter. */
export const isNotParked = ({ msg }: Line): boolean => msg === 'message could not be parked';

const isOurFault = ({ msg, code }: Line): boolean => msg === 'handled' && ourFault.has(String(code));

function countsIn(lines: readonly Line[]): Counts {
  const counts = new Map<string, number>();
  const add = (series: string, by = 1) => {
    if (by > 0) counts.set(series, (counts.get(series) ?? 0) + by);
  };
  const notParked = lines.filter(isNotParked).length;
  add('dead letters not_parked', notParked);
  add('dead letters parked', lines.filter(isOurFault).length - notParked);
  for (const { msg, message, code, replies, dropped, repliesMs } of lines) {
    if (msg !== 'handled') continue;
    const name = names.has(String(message)) ? String(message) : '_OTHER';
    add(`handled ${code} ${name}`);
    for (const series of ['durations', 'waits hub', 'waits lane']) add(series);
    add('replies delivered', Number(replies));
    for (const { reason } of Array.isArray(dropped) ? dropped : []) add(`replies ${reason}`);
    if (repliesMs !== undefined) add('replies durations');
  }
  return counts;
}

function countsOf(text: string): Counts {
  const counts = new Map<string, number>();
  for (const { name, labels, value } of parseMetrics(text)) {
    const label = (of: string) => labels[`device_messaging_${of}`];
    const series = {
      device_messaging_handled_messages_total: `handled ${label('code')} ${label('message')}`,
      messaging_process_duration_count: 'durations',
      device_messaging_wait_duration_count: `waits ${label('stage')}`,
      device_messaging_dead_letters_total: `dead letters ${label('result')}`,
      device_messaging_replies_total: `replies ${label('result')}`,
      device_messaging_replies_duration_count: 'replies durations',
    }[name];
    if (series !== undefined && value > 0) counts.set(series, (counts.get(series) ?? 0) + value);
  }
  return counts;
}

/** In words, what one counts otherwise than the other. */
const differencesOf = (counted: Counts, due: Counts): string[] =>
  [...new Set([...counted.keys(), ...due.keys()])]
    .filter((series) => counted.get(series) !== due.get(series))
    .map((series) => `${series}: ${counted.get(series) ?? 0} counted, ${due.get(series) ?? 0} in the log`);

export function processesIn(lines: readonly Line[]): readonly (readonly Line[])[] {
  const processes: Line[][] = [];
  for (const line of lines) {
    if (line['msg'] === 'starting') processes.push([]);
    processes.at(-1)?.push(line);
  }
  return processes;
}

/** In words, what the last line of a process that was stopped says otherwise than its other lines. */
function flawsOfLastLine(lines: readonly Line[]): string[] {
  const last = lines.findLast(({ msg }) => msg === 'stopped');
  if (last === undefined) return [];
  const due = countsIn(lines);
  const sum = (prefix: string) => [...due].reduce((all, [series, by]) => all + (series.startsWith(prefix) ? by : 0), 0);
  const succeeded = sum('handled ok ');
  const delivered = sum('replies delivered');
  const sums = {
    ...{ succeeded, failed: sum('handled ') - succeeded, parked: sum('dead letters parked') },
    notParked: sum('dead letters not_parked'),
    ...{ repliesDelivered: delivered, repliesDropped: sum('replies ') - sum('replies durations') - delivered },
  };
  return Object.entries(sums).flatMap(([name, value]) =>
    last[name] === value ? [] : [`${name}: ${last[name]} in the last line, ${value} in the others`],
  );
}

/** What an instance that is idle counts may lag behind what it logs by as much as one scrape. */
const mostScrapes = 40;
const betweenScrapesMs = 250;

/** Compares the metrics of an instance that has nothing to do with what it has logged since its start. */
export async function checkMetrics(instance: Pick<Instance, 'metrics' | 'lines'>): Promise<Finding[]> {
  let flaws: string[] = [];
  for (let left = mostScrapes; left > 0; left -= 1) {
    const counted = countsOf(await instance.metrics());
    flaws = differencesOf(counted, countsIn(processesIn(await instance.lines()).at(-1) ?? []));
    if (flaws.length === 0) return [];
    await sleep(betweenScrapesMs);
  }
  return flaws.map((why) => ({ what: 'uncounted', id: 'metrics', why }));
}

export async function checkLastLines(instance: Pick<Instance, 'lines'>): Promise<Finding[]> {
  const flaws = processesIn(await instance.lines()).flatMap(flawsOfLastLine);
  return flaws.map((why) => ({ what: 'uncounted', id: 'last line', why }));
}
