import { answers } from './service/process.ts';
import { isRunning, readState, removeState } from './state/state.ts';
import type { Printer } from './terminal/print.ts';

/** Another sandbox uses the same directory. */
export class AlreadyRunning extends Error {
  override name = 'AlreadyRunning';
}

/** Rejects with `AlreadyRunning` when a sandbox runs in this directory; removes the state of one that was killed. */
export async function checkNotRunning(directory: string, printer: Printer): Promise<void> {
  const state = await readState(directory);
  if (!state) return;
  if (await isRunning(state)) {
    throw new AlreadyRunning(
      `A sandbox is running in ${directory} since ${state.startedAt} (process ${state.pid}). End it with Ctrl-C where it was started, or with: kill ${state.pid}. Or start this one in another directory with --directory`,
    );
  }
  for (const [name, left] of [
    ['A service', state.service],
    ['A front door', state.methods],
    ['An edge proxy', state.edge?.proxy],
  ] as const) {
    if (left?.pid && (await answers(left.livezUrl))) {
      printer.progress(`${name} of a sandbox that was killed still runs; end it with: kill ${left.pid}`);
    }
  }
  await removeState(directory);
}
