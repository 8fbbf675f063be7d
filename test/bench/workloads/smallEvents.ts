import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectDirectory } from '../../../sandbox/state/directories.ts';
import { untilQuiet } from '../processes/arena.ts';
import type { Served } from '../processes/hub.ts';
import type { RunningProgram } from '../processes/program.ts';
import { openStage } from '../processes/stage.ts';
import { untilAnswered } from '../processes/untilAnswered.ts';
import { residentOf } from '../processes/usage.ts';
import { figure } from '../statistics.ts';
import type { Workload } from './workload.ts';

/** No divisor of it is one of `oneIn`: each sends messages of ours. */
const devices = 997;
const partitions = 4;
const oneIn = 60;
const held = 3_000;
const messagesOf = (quick: boolean) => (quick ? 240_000 : 1_000_000);

export const smallEvents: Workload = {
  name: 'small',
  about: `events of 60 bytes, one in ${oneIn} ours; ${held} of these wait for a backend that is out`,
  async run({ quick, progress }) {
    const { resident, real, account } = await waitingIn(projectDirectory, messagesOf(quick), progress);
    return {
      rows: [
        { measure: `resident memory, ${held} waiting`, figure: figure([resident]), unit: 'MB' },
        {
          measure: 'account of memory / heap and buffers',
          figure: figure([account / real]),
          unit: '×',
          goal: { atLeast: 0.85, atMost: 1.15 },
        },
      ],
      absolute: [
        {
          program: 'service',
          figures: [
            { what: 'heap and buffers of what waits', figure: figure([real]), unit: 'MB' },
            { what: 'account', figure: figure([account]), unit: 'MB' },
          ],
        },
      ],
      notes: [],
    };
  },
  versus: ({ quick, progress }) => ({
    '': async (build) => ({
      isNewEachTime: true,
      async measure() {
        const { resident, real, account } = await waitingIn(build, messagesOf(quick), progress);
        return { 'memory, MB': resident, 'heap and buffers of what waits, MB': real, 'account of it, MB': account };
      },
      close: async () => {},
    }),
  }),
};

/** In megabytes: all of it, what the messages that wait hold of heap and buffers, and what the service says that they hold. */
async function waitingIn(build: string, messages: number, progress: (what: string) => void) {
  const stage = await openStage(devices, partitions);
  const { hub, backends } = stage;
  try {
    progress(`${messages} events are written`);
    await backends.call('outAfter', Math.ceil(messages / oneIn) - held);
    await hub.call('send', { kind: 'update', messages, devices, oneIn, isSmall: true });
    progress(`${messages} events are read`);
    const program = await stage.start({
      program: 'service',
      build,
      nodeOptions: ['--expose-gc', `--import=${onDemand}`],
    });
    while ((await hub.call<number>('delivered')) < messages) {
      program.requireAlive();
      await sleep(100);
    }
    await untilQuiet(program.pid);
    const resident = residentOf(program.pid);
    const account = await accountOf(program);
    const waiting = await heapAndBuffers(program);
    await backends.call('outAfter', Number.MAX_SAFE_INTEGER);
    await untilAnswered(hub, program);
    await untilQuiet(program.pid);
    const { faults } = await hub.call<Served>('served');
    if (faults.length > 0) throw new Error(faults.join('\n'));
    return { resident, account, real: waiting - (await heapAndBuffers(program)) };
  } finally {
    await stage.close();
  }
}

const megabyte = 1024 * 1024;

/** Collects garbage and writes what is left, whenever it is asked with a signal. */
const onDemand = `data:text/javascript,${encodeURIComponent(`
process.on('SIGUSR2', () => {
  for (let times = 3; times > 0; times -= 1) gc();
  const { heapUsed, external } = process.memoryUsage();
  process.stdout.write(JSON.stringify({ bytesLeft: heapUsed + external }) + '\\n');
});`)}`;

async function heapAndBuffers({ pid, logFile, requireAlive }: RunningProgram): Promise<number> {
  const said = () =>
    [...readFileSync(logFile, 'utf8').matchAll(/"bytesLeft":(\d+)/g)].map(([, bytes]) => Number(bytes));
  const before = said().length;
  process.kill(pid, 'SIGUSR2');
  for (;;) {
    requireAlive();
    const last = said();
    if (last.length > before) return (last.at(-1) ?? 0) / megabyte;
    await sleep(20);
  }
}

async function accountOf({ url }: RunningProgram): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const parts = [...text.matchAll(/^device_messaging_held_bytes\{[^}]*\} (\S+)/gm)];
  if (parts.length === 0) throw new Error('the service does not say how much it holds');
  return parts.reduce((sum, [, bytes]) => sum + Number(bytes), 0) / megabyte;
}
