import { usePolled } from '../kit/ask.ts';
import { changeQuery, linkTo } from '../kit/route.ts';
import { Table } from '../kit/Table.tsx';
import { shownSeconds, type WaitingDevice } from './answers.ts';

interface Waiting {
  readonly devices: readonly WaitingDevice[];
  readonly further: number;
  readonly fullQueues: {
    readonly devices: readonly { readonly device: string; readonly replies: number; readonly seconds: number }[];
    readonly further: number;
  };
  readonly notFetching: { readonly devices: readonly string[]; readonly further: number };
}

/** Devices with messages, the oldest message first, and what each waits for. */
export function WaitingView({ query }: { readonly query: URLSearchParams }) {
  const device = query.get('device') ?? '';
  const asked = new URLSearchParams({ limit: '500', ...(device !== '' && { device }) });
  const { value, error } = usePolled<Waiting>(`../devices?${asked}`, 2_000);
  return (
    <>
      <h2>Devices with messages</h2>
      <label>
        Only this device{' '}
        <input type="search" value={device} onInput={(event) => changeQuery({ device: event.currentTarget.value })} />
      </label>
      {error && <p class="is-failed">{error.message}</p>}
      <Table
        caption="Devices with messages"
        none={value ? 'none' : '…'}
        rows={value?.devices ?? []}
        keyOf={({ device: one, partition }) => `${partition} ${one}`}
        columns={[
          { title: 'device', of: ({ device: one }) => <a href={linkTo('follow', { device: one })}>{one}</a> },
          { title: 'messages', isNumber: true, of: ({ messages }) => messages },
          { title: 'oldest, read', isNumber: true, of: ({ oldest }) => `${shownSeconds(oldest.seconds)} ago` },
          { title: 'state', of: ({ state }) => state },
          { title: 'waits for', of: ({ waitsFor }) => waitsFor },
          { title: 'partition', of: ({ partition }) => partition },
        ]}
      />
      <More of={value?.further} />
      <h2>Replies that wait for room in the queues of their devices</h2>
      <Table
        caption="Replies that wait for room in the queues of their devices"
        none={value ? 'none' : '…'}
        rows={value?.fullQueues.devices ?? []}
        keyOf={({ device: one }) => one}
        columns={[
          { title: 'device', of: ({ device: one }) => <a href={linkTo('follow', { device: one })}>{one}</a> },
          { title: 'replies', isNumber: true, of: ({ replies }) => replies },
          { title: 'for', isNumber: true, of: ({ seconds }) => shownSeconds(seconds) },
        ]}
      />
      <More of={value?.fullQueues.further} />
      <h2>Devices that do not fetch their replies</h2>
      <p>{value?.notFetching.devices.join(', ') || <span class="quiet">none</span>}</p>
      <More of={value?.notFetching.further} />
    </>
  );
}

function More({ of = 0 }: { readonly of: number | undefined }) {
  return of > 0 && <p class="quiet">and {of} more</p>;
}
