import { quoted } from '../flow/copies.ts';
import { usePolled } from '../kit/ask.ts';
import { Command } from '../kit/Copyable.tsx';
import { changeQuery } from '../kit/route.ts';
import { Table } from '../kit/Table.tsx';
import type { DeadLetter } from './answers.ts';

interface Letters {
  readonly deadLetters: readonly DeadLetter[];
  readonly isMore: boolean;
  readonly unreadable: number;
}

/** Dead letters without their bodies, and the commands that show, replay and delete them: the page does neither. */
export function DeadLettersView({ query }: { readonly query: URLSearchParams }) {
  const device = query.get('device') ?? '';
  const code = query.get('code') ?? '';
  const chosen = query.get('letter');
  const asked = new URLSearchParams({ limit: '200', ...(device && { device }), ...(code && { code }) });
  const { value, error } = usePolled<Letters>(`../dead-letters?${asked}`, 10_000);
  const criteria = [...(device ? ['--device', device] : []), ...(code ? ['--code', code] : [])].map(quoted).join(' ');
  const command = (words: string) => `node dist/deadLetters.js ${words}`.trimEnd();
  return (
    <>
      <h2>Dead letters</h2>
      <div class="tools">
        <label>
          Device{' '}
          <input type="search" value={device} onInput={(event) => changeQuery({ device: event.currentTarget.value })} />
        </label>
        <label>
          Code{' '}
          <input type="search" value={code} onInput={(event) => changeQuery({ code: event.currentTarget.value })} />
        </label>
      </div>
      {error && <p class="is-failed">{error.message}</p>}
      <Table
        caption="Dead letters"
        none={value ? 'none' : '…'}
        rows={value?.deadLetters ?? []}
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'parked at',
            of: ({ id, parkedAt }) => (
              <button
                type="button"
                class="link"
                aria-pressed={id === chosen}
                onClick={() => changeQuery({ letter: id === chosen ? '' : id })}
              >
                {parkedAt}
              </button>
            ),
          },
          { title: 'device', of: (letter) => letter.device },
          { title: 'message', of: ({ message }) => message },
          { title: 'code', of: (letter) => letter.code },
          { title: 'attempts', isNumber: true, of: ({ attempts }) => attempts },
          { title: 'details', of: ({ details }) => details },
        ]}
      />
      {value?.isMore && (
        <p class="quiet">and more, of which some were not looked at: name a device, or use the command</p>
      )}
      {value && value.unreadable > 0 && <p class="is-failed">{value.unreadable} cannot be read</p>}
      {chosen !== null && (
        <section aria-label="The chosen dead letter">
          <h3>
            <code>{chosen}</code>
          </h3>
          <Command text={command(`show ${quoted(chosen)}`)} />
          <Command text={command(`delete ${quoted(chosen)}`)} />
        </section>
      )}
      <h3>Commands for all that are meant above</h3>
      <Command text={command(`replay --dry-run ${criteria}`)} />
      <Command text={command(`replay ${criteria}`)} />
      {criteria !== '' && <Command text={command(`delete --dry-run ${criteria}`)} />}
    </>
  );
}
