import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { picturesOf } from './charts/pictures.ts';
import { runWithTroubles } from './charts/run.ts';
import { runSeconds, troubles } from './charts/troubles.ts';
import { drawLineChart } from './svg/lineChart.ts';

/**
 * Draws the charts of docs/troubleshooting.md. `npm run charts` starts a hub, backends and the service on this machine, makes
 * trouble for two minutes, and draws what `/metrics` said meanwhile. The folder can be another one: `npm run charts -- out`.
 */
const folder = process.argv[2] ?? 'docs/charts';
const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupt.abort());

try {
  console.log('Building and starting the service');
  const scrapes = await runWithTroubles(console.log, interrupt.signal);
  await mkdir(folder, { recursive: true });
  for (const [name, chart] of Object.entries(picturesOf(scrapes, troubles, runSeconds))) {
    await writeFile(join(folder, name), drawLineChart(chart));
    console.log(`wrote ${join(folder, name)}`);
  }
} catch (error) {
  if (!interrupt.signal.aborted) throw error;
  console.error('interrupted: nothing was written');
  process.exitCode = 1;
}
