import { usePolled } from '../kit/ask.ts';
import { Body } from '../kit/Body.tsx';
import { changeQuery, linkTo } from '../kit/route.ts';

interface Device {
  readonly deviceId: string;
  readonly connected: boolean;
  readonly pending: number;
  readonly createdAt: string;
}

interface Queued {
  readonly messageId?: string;
  readonly correlationId?: string;
  readonly expiryTime?: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly bytes: number;
}

/** The devices of the hub, and of one of them its twin and the messages that wait for it. */
export function DevicesView({ query }: { readonly query: URLSearchParams }) {
  const { value } = usePolled<{ devices: readonly Device[] }>('hub/devices', 2_000);
  const device = query.get('device');
  const filter = query.get('filter') ?? '';
  const all = value?.devices ?? [];
  const found = all.filter(({ deviceId }) => deviceId.toLowerCase().includes(filter.toLowerCase()));
  return (
    <div class="two">
      <section aria-labelledby="devices">
        <h2 id="devices">Devices</h2>
        <label>
          Filter{' '}
          <input type="search" value={filter} onInput={(event) => changeQuery({ filter: event.currentTarget.value })} />
        </label>
        <table>
          <thead>
            <tr>
              <th scope="col">device</th>
              <th scope="col">connected</th>
              <th scope="col" class="number">
                waiting messages
              </th>
              <th scope="col">messages</th>
            </tr>
          </thead>
          <tbody>
            {found.slice(0, 500).map(({ deviceId, connected, pending }) => (
              <tr key={deviceId}>
                <td>
                  <button
                    type="button"
                    class="link"
                    aria-pressed={deviceId === device}
                    onClick={() => changeQuery({ device: deviceId })}
                  >
                    {deviceId}
                  </button>
                </td>
                <td>{connected ? 'yes' : 'no'}</td>
                <td class="number">{pending}</td>
                <td>
                  <a href={linkTo('messages', { filter: deviceId, events: '1' })}>
                    show<span class="unseen"> those of {deviceId}</span>
                  </a>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {found.length > 500 && <p class="quiet">and {found.length - 500} more: filter</p>}
      </section>
      {device !== null && <DeviceDetails key={device} device={device} />}
    </div>
  );
}

function DeviceDetails({ device }: { readonly device: string }) {
  const path = `hub/devices/${encodeURIComponent(device)}`;
  const twin = usePolled<object>(`${path}/twin`, 2_000);
  const queue = usePolled<{ messages: readonly Queued[] }>(`${path}/messages`, 2_000);
  return (
    <section class="details" aria-label="The device">
      <h2>{device}</h2>
      <h3>Messages that wait for it</h3>
      {queue.error && <p class="is-failed">{queue.error.message}</p>}
      {queue.value?.messages.length === 0 && <p class="quiet">none</p>}
      <ul>
        {queue.value?.messages.map(({ messageId, properties, bytes, expiryTime }) => (
          <li key={messageId}>
            <code>{messageId}</code>, {bytes} bytes{expiryTime && `, until ${expiryTime}`}:{' '}
            {Object.entries(properties)
              .map(([name, value]) => `${name}=${value}`)
              .join(' ')}
          </li>
        ))}
      </ul>
      <h3>Twin</h3>
      {twin.error ? (
        <p class="is-failed">{twin.error.message}</p>
      ) : (
        <Body text={twin.value && JSON.stringify(twin.value)} />
      )}
    </section>
  );
}
