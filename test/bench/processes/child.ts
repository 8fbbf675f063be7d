import { once } from 'node:events';
import { join } from 'node:path';
import { fork } from '../../../sandbox/service/endWithUs.ts';
import { projectDirectory } from '../../../sandbox/state/directories.ts';

type Answer = Readonly<{ id: number; value?: never; error?: string }>;

/**
 * A process of the bench that is called by name; see answerParent.
 * @param build the folder of the checkout whose sources it runs
 * @throws Error when the process ends before it is ready
 */
export async function startChild<Description>(program: string, args: readonly string[], build = projectDirectory) {
  const path = join(build, 'test/bench/processes', program);
  const child = fork(join(build, 'scripts/run.js'), [path, ...args], { cwd: build });
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`${program} ended: ${signal ?? `exit code ${code}`}`);
  });
  ended.catch(() => {});
  const [described] = await Promise.race([once(child, 'message'), ended]);
  const calls = new Map<number, (answer: Answer) => void>();
  let last = 0;
  child.on('message', (answer: Answer) => {
    calls.get(answer.id)?.(answer);
    calls.delete(answer.id);
  });

  return {
    pid: child.pid ?? 0,
    /** The first thing it said: that it is ready, and where. */
    described: described as Description,
    call: <T>(name: string, argument?: unknown): Promise<T> =>
      Promise.race([
        ended,
        new Promise<T>((resolve, reject) => {
          last += 1;
          calls.set(last, ({ value, error }) =>
            error === undefined ? resolve(value as never) : reject(new Error(error)),
          );
          child.send({ id: last, name, argument });
        }),
      ]),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
