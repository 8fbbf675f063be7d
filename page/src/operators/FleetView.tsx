import { usePolled } from '../kit/ask.ts';
import { Table } from '../kit/Table.tsx';
import { shownSeconds } from './answers.ts';

interface Member {
  readonly address: string;
  readonly program?: string;
  readonly instance?: string;
  readonly version?: string;
  readonly partitions?: readonly { readonly partition: string; readonly behindSeconds: number | null }[];
  readonly troubles?: readonly string[];
  readonly error?: string;
}

/** All instances side by side, as each answers. */
export function FleetView() {
  const { value, error } = usePolled<{ readonly members: readonly Member[]; readonly unread: readonly string[] }>(
    '../fleet',
    5_000,
  );
  return (
    <>
      <h2>Instances</h2>
      {error && <p class="is-failed">{error.message}</p>}
      {value && value.unread.length > 0 && (
        <p class="is-failed">Partitions that no instance reads: {value.unread.join(', ')}</p>
      )}
      <Table
        caption="Instances"
        none={value ? 'none' : '…'}
        rows={value?.members ?? []}
        keyOf={({ address }) => address}
        columns={[
          { title: 'address', of: ({ address }) => address },
          { title: 'program', of: ({ program }) => program },
          { title: 'instance', of: ({ instance }) => instance },
          { title: 'version', of: ({ version }) => version },
          { title: 'reads', of: ({ partitions }) => partitions?.map(({ partition }) => partition).join(', ') },
          {
            title: 'behind',
            isNumber: true,
            of: ({ partitions = [] }) =>
              partitions.length > 0 &&
              shownSeconds(
                partitions.some((one) => one.behindSeconds === null)
                  ? null
                  : Math.max(...partitions.map((one) => Number(one.behindSeconds))),
              ),
          },
          {
            title: 'troubles',
            of: ({ troubles = [], error }) => <span class="is-failed">{error ?? troubles.join('; ')}</span>,
          },
        ]}
      />
    </>
  );
}
