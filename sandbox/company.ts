import type { Printer } from './print.ts';
import { answers } from './serviceProcess.ts';
import { isRunning, readState, removeState } from './state.ts';

/** Another sandbox uses the same directory. */
export class AlreadyRunning extends Error {
  override name = 'AlreadyRunning';
}

/** Rejects with `AlreadyRunning` when a sandbox runs in this directory; removes what one has left that was killed. */
export async function refuseCompany(directory: string, printer: Printer): Promise<void> {
  const state = await readState(directory);
  if (!state) return;
  if (await isRunning(state)) {
    throw new AlreadyRunning(
      `A sandbox runs here already, since ${state.startedAt} (process ${state.pid}). End it with Ctrl-C where it was started, or with: kill ${state.pid}`,
    );
  }
  for (const [name, left] of [
    ['A service', state.service],
    ['A front door', state.methods],
  ] as const) {
    if (left?.pid && (await answers(left.livezUrl))) {
      printer.progress(`${name} is left of a sandbox that was killed; it can be ended with: kill ${left.pid}`);
    }
  }
  await removeState(directory);
}
