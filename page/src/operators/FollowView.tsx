import { useEffect, useState } from 'preact/hooks';
import { quoted } from '../flow/copies.ts';
import { fetched } from '../kit/ask.ts';
import { Body } from '../kit/Body.tsx';
import { Command } from '../kit/Copyable.tsx';
import { RowList } from '../kit/RowList.tsx';
import { changeQuery } from '../kit/route.ts';
import { useSession } from '../kit/session.ts';
import { inWords } from './StateView.tsx';

interface TapLine {
  readonly number: number;
  readonly time: string;
  readonly stage: string;
  readonly place: string;
  readonly text: string;
  readonly json: string;
}

/** Lines that are kept; the oldest go. */
const most = 5_000;
const longestSeconds = 3_600;

/** One device, followed live through the service. */
export function FollowView({ query }: { readonly query: URLSearchParams }) {
  const device = query.get('device') ?? '';
  const hasBodies = query.get('bodies') === '1';
  const isOn = query.get('on') === '1';
  /** What was written, beside the device that the address had: another address counts for more. */
  const [draft, setDraft] = useSession('follow-draft', { of: device, text: device });
  const written = draft.of === device ? draft.text : device;
  return (
    <>
      <h2>Follow a device</h2>
      <form
        class="tools"
        onSubmit={(event) => {
          event.preventDefault();
          changeQuery({ device: written, on: isOn && written === device ? '' : '1' });
        }}
      >
        <label>
          Device{' '}
          <input
            required
            maxLength={128}
            value={written}
            onInput={(event) => setDraft({ of: device, text: event.currentTarget.value })}
          />
        </label>
        <label>
          <input
            type="checkbox"
            checked={hasBodies}
            onChange={(event) => changeQuery({ bodies: event.currentTarget.checked ? '1' : '' })}
          />{' '}
          with bodies, without what looks secret
        </label>
        <button type="submit" class="main">
          {isOn && written === device ? 'Stop' : 'Follow'}
        </button>
      </form>
      {isOn && device !== '' && <Followed key={`${device} ${hasBodies}`} device={device} hasBodies={hasBodies} />}
      <h3>The same in a terminal</h3>
      <Command text={`node dist/tap.js --device ${quoted(written || 'pump-7')}${hasBodies ? ' --bodies' : ''}`} />
    </>
  );
}

function Followed({ device, hasBodies }: { readonly device: string; readonly hasBodies: boolean }) {
  const [lines, setLines] = useState<readonly TapLine[]>([]);
  const [said, setSaid] = useState('');
  const [chosen, setChosen] = useState<string>();
  useEffect(() => {
    const leave = new AbortController();
    let taken: readonly TapLine[] = [];
    const asked = new URLSearchParams({ device, seconds: String(longestSeconds), bodies: String(hasBodies) });
    const follow = async () => {
      const response = await fetched(`../tap?${asked}`, { signal: leave.signal });
      setSaid('following …');
      let number = 0;
      for await (const json of linesOf(response)) {
        number += 1;
        taken = [lineOf(json, number), ...taken].slice(0, most);
        setLines(taken);
      }
      setSaid('the time is over: follow again');
    };
    follow().catch((error: Error) => {
      if (!leave.signal.aborted) setSaid(error.message);
    });
    return () => leave.abort();
  }, [device, hasBodies]);
  const line = lines.find(({ number }) => String(number) === chosen);
  return (
    <>
      <p role="status">{said}</p>
      <RowList
        label={`What happens with messages of ${device}, the newest first`}
        rows={lines}
        idOf={({ number }) => String(number)}
        chosen={chosen}
        choose={setChosen}
        render={({ time, stage, place, text }) => (
          <>
            <span class="quiet">{time.slice(11, 23)}</span>
            <span>{place}</span>
            <span>{stage}</span>
            <span title={text}>{text}</span>
            <span />
          </>
        )}
      />
      {line && <Body text={line.json} />}
    </>
  );
}

const shownApart = new Set(['time', 'stage', 'device', 'partition', 'sequenceNumber', 'body', 'request', 'response']);

function lineOf(json: string, number: number): TapLine {
  const event = JSON.parse(json) as Readonly<Record<string, unknown>>;
  const { time, stage, partition, sequenceNumber, correlationId } = event;
  const place = partition === undefined ? String(correlationId ?? '') : `${partition}/${sequenceNumber ?? ''}`;
  const text = inWords(Object.fromEntries(Object.entries(event).filter(([name]) => !shownApart.has(name))));
  return { number, json, time: String(time), stage: String(stage), place, text };
}

async function* linesOf({ body }: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
