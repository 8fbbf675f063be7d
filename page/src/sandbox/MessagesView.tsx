import type { Flow } from '../flow/flows.ts';
import { shownMs } from '../flow/steps.ts';
import { RowList } from '../kit/RowList.tsx';
import { changeQuery } from '../kit/route.ts';
import type { About } from './about.ts';
import { FlowDetails } from './FlowDetails.tsx';
import type { Live } from './live.ts';
import type { Told } from './told.ts';

interface MessagesViewProps {
  readonly live: Live;
  readonly query: URLSearchParams;
  readonly about: About;
  readonly told: ReadonlyMap<number, Told>;
}

const states = ['waiting', 'ok', 'failed', 'none', 'struck'] as const;
const stateNames: Readonly<Record<(typeof states)[number], string>> = {
  waiting: 'waits for an answer',
  ok: 'succeeded',
  failed: 'failed',
  none: 'without a result',
  struck: 'struck by a fault',
};

/** Every message as it comes, the newest first; one of them opened: until one is chosen, the first that succeeded. */
export function MessagesView({ live, query, about, told }: MessagesViewProps) {
  const filter = query.get('filter') ?? '';
  const state = query.get('is') ?? '';
  const hasEvents = query.get('events') === '1';
  const pausedAt = query.get('paused');
  const open = query.get('open') ?? undefined;
  const all = live.flows.list();
  const rows = all.filter(selection({ filter, state, hasEvents, pausedAt })).toReversed();
  const opened = all.find(({ id, what, outcome }) =>
    open === undefined ? what === 'message' && outcome.is === 'ok' : String(id) === open,
  );
  const newer = pausedAt === null ? 0 : all.filter(({ id }) => id > Number(pausedAt)).length;

  return (
    <div class="two">
      <section class="list" aria-label="Messages">
        <div class="tools">
          <label>
            Filter{' '}
            <input
              type="search"
              value={filter}
              placeholder="device, action, id, code"
              onInput={(event) => changeQuery({ filter: event.currentTarget.value })}
            />
          </label>
          <label>
            Result{' '}
            <select value={state} onChange={(event) => changeQuery({ is: event.currentTarget.value })}>
              <option value="">any</option>
              {states.map((one) => (
                <option key={one} value={one}>
                  {stateNames[one]}
                </option>
              ))}
            </select>
          </label>
          <label>
            <input
              type="checkbox"
              checked={hasEvents}
              onChange={(event) => changeQuery({ events: event.currentTarget.checked ? '1' : '' })}
            />{' '}
            Connections
          </label>
          <button
            type="button"
            aria-pressed={pausedAt !== null}
            onClick={() => changeQuery({ paused: pausedAt === null ? String(all.at(-1)?.id ?? 0) : '' })}
          >
            {pausedAt === null ? 'Pause' : `Continue (${newer} newer)`}
          </button>
          <span class="quiet count">{rows.length} shown</span>
        </div>
        <div class="row head" aria-hidden="true">
          <span>time</span>
          <span>device</span>
          <span>action</span>
          <span>result</span>
          <span class="number">took</span>
        </div>
        <RowList
          label="Messages, the newest first"
          rows={rows}
          idOf={({ id }) => String(id)}
          chosen={opened && String(opened.id)}
          choose={(id) => changeQuery({ open: id })}
          render={(flow) => <FlowRow flow={flow} told={told.get(flow.id)} />}
        />
      </section>
      <section class="details" aria-label="The opened message">
        {opened ? (
          <FlowDetails
            key={opened.id}
            flow={opened}
            connections={live.flows.connections(opened.device)}
            about={about}
            told={told.get(opened.id)}
            step={query.get('step') ?? ''}
          />
        ) : (
          <p class="quiet">
            {open === undefined
              ? 'A message that succeeds is opened here, with its way through hub, service and backends.'
              : 'This message is not there (any more).'}
          </p>
        )}
      </section>
    </div>
  );
}

interface Selection {
  readonly filter: string;
  readonly state: string;
  readonly hasEvents: boolean;
  readonly pausedAt: string | null;
}

function selection({ filter, state, hasEvents, pausedAt }: Selection): (flow: Flow) => boolean {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return ({ id, what, device, name, correlationId = '', outcome, isStruck }) => {
    if (pausedAt !== null && id > Number(pausedAt)) return false;
    if (what === 'event' && !hasEvents) return false;
    if (state !== '' && (state === 'struck' ? !isStruck : outcome.is !== state)) return false;
    if (words.length === 0) return true;
    const text = `${device}\n${name}\n${correlationId}\n${outcome.text}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
}

const marks: Readonly<Record<Flow['outcome']['is'], string>> = { waiting: '…', ok: '✓', failed: '✗', none: '·' };

/** The result of a flow. What an application got without a device is not in the journal: the demonstration tells it. */
function resultOf({ outcome }: Flow, told: Told | undefined): Flow['outcome'] {
  if (outcome.text !== '' || told?.status === undefined) return outcome;
  return { is: told.status < 300 ? 'ok' : 'failed', text: `status ${told.status}` };
}

interface FlowRowProps {
  readonly flow: Flow;
  readonly told: Told | undefined;
}

function FlowRow({ flow, told }: FlowRowProps) {
  const { at, device, tookMs, isStruck, what } = flow;
  const name = told?.method === undefined ? flow.name : `method ${told.method}`;
  const outcome = resultOf(flow, told);
  const isExpected = outcome.is === 'failed' && told?.problems.length === 0;
  return (
    <>
      <span class="quiet">{new Date(at).toISOString().slice(11, 23)}</span>
      <span title={device}>{device}</span>
      <span title={name} class={what === 'event' ? 'quiet' : ''}>
        {name}
      </span>
      <span class={`is-${outcome.is}`}>
        {marks[outcome.is]} {isExpected ? `expected ${outcome.text.replace('status ', '')}` : outcome.text}
        {isStruck && (
          <span class="struck" title="a fault struck it">
            {' '}
            ⚡<span class="unseen"> struck by a fault</span>
          </span>
        )}
      </span>
      <span class="number">{tookMs === undefined ? '' : shownMs(tookMs)}</span>
    </>
  );
}
