import { printable } from 'telemetry/printable.ts';
import type { DeadLetters } from '../../deadLetters/deadLetterStore.ts';
import type { Choice } from './choice.ts';
import { replaySummaryOf } from './letterLines.ts';
import { list } from './list.ts';
import { type ReplayOptions, rememberingFailures, replay } from './replay.ts';
import { say } from './say.ts';
import { select } from './select.ts';

/** What handles messages, and parks them in a store. */
interface ReplayHandling extends Pick<ReplayOptions, 'dispatch' | 'requirementOf'> {
  close(): Promise<void>;
}

interface Replaying {
  readonly isDryRun: boolean;
  readonly open: (store: DeadLetters) => Promise<ReplayHandling>;
}

/** Devices whose dead letters are handled at once. */
const width = 16;

const progressEveryMs = 2_000;

/** @returns exit code: 1 when one was not handled */
export async function replayChosen(store: DeadLetters, choice: Choice, { isDryRun, open }: Replaying): Promise<number> {
  say('These older messages can overwrite what devices have sent since.');
  if (isDryRun) {
    say('Dry run: nothing is done. To be replayed:');
    return list(store, choice);
  }
  const ids: string[] = [];
  const passedOver = await select(store, choice, ({ id }) => ids.push(id));
  say(`${ids.length} dead letters to replay`);

  const { deadLetters, failureOf } = rememberingFailures(store);
  const handling = await open(deadLetters);
  const stopping = new AbortController();
  const stop = () => {
    if (stopping.signal.aborted) process.exit(130);
    say('stopping after the dead letters in work; once more to end at once');
    stopping.abort();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  let saidAt = 0;
  try {
    const replayed = await replay(ids, {
      ...{ dispatch: handling.dispatch, requirementOf: handling.requirementOf },
      ...{ deadLetters, failureOf, width, stopping: stopping.signal },
      remark: (text) => say(printable(text)),
      progress(done, all) {
        if (performance.now() - saidAt < progressEveryMs) return;
        saidAt = performance.now();
        say(`${done} of ${all}`);
      },
    });
    say(replaySummaryOf(replayed));
    return replayed.handled + replayed.gone === ids.length && passedOver === 0 ? 0 : 1;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    await handling.close();
  }
}
