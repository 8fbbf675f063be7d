import { usePolled } from '../kit/ask.ts';
import { Table } from '../kit/Table.tsx';
import { type Backend, type Partition, type Partitions, shownSeconds, type Trouble } from './answers.ts';
import type { Program } from './OperatorsHome.tsx';

const everyMs = 2_000;

/** Troubles, backends, replies and partitions, as they are now. */
export function StateView({ program }: { readonly program: Program }) {
  const has = (path: string) => `GET ${path}` in program.paths;
  const troubles = usePolled<{ troubles: readonly Trouble[] }>('../troubles', everyMs).value;
  const backends = usePolled<Readonly<Record<string, Backend>>>(
    has('/backends') ? '../backends' : undefined,
    everyMs,
  ).value;
  const replies = usePolled<Readonly<Record<string, unknown>>>(
    has('/replies') ? '../replies' : undefined,
    everyMs,
  ).value;
  const partitions = usePolled<Partitions>(has('/partitions') ? '../partitions' : undefined, everyMs).value;
  const requests = usePolled<Requests>(has('/requests') ? '../requests' : undefined, everyMs).value;
  return (
    <>
      <p class="quiet">
        {program.instance && `instance ${program.instance}`} {program.version && `version ${program.version}`}
      </p>
      <h2>Troubles</h2>
      <Table
        caption="Troubles"
        none={troubles ? 'none' : '…'}
        rows={troubles?.troubles ?? []}
        keyOf={({ event, fields }) => `${event} ${JSON.stringify(fields)}`}
        columns={[
          {
            title: 'what',
            of: ({ level, message }) => <span class={level === 'error' ? 'is-failed' : ''}>{message}</span>,
          },
          { title: 'for', isNumber: true, of: ({ forSeconds }) => shownSeconds(forSeconds) },
          { title: 'times', isNumber: true, of: ({ times }) => times },
          { title: 'more', of: ({ fields }) => inWords(fields) },
          { title: 'in the log', of: ({ event }) => <code>{event}</code> },
        ]}
      />
      {backends && <BackendsTable backends={backends} />}
      {replies && (
        <>
          <h2>Replies</h2>
          <p>{inWords(replies)}</p>
        </>
      )}
      {requests && <RequestsTable requests={requests} />}
      {partitions && <PartitionsTable all={partitions} />}
    </>
  );
}

interface Requests {
  readonly inProgress: number;
  readonly requests: readonly (Readonly<Record<string, unknown>> & {
    readonly waitsFor: string;
    readonly seconds: number;
  })[];
}

function RequestsTable({ requests: { inProgress, requests } }: { readonly requests: Requests }) {
  return (
    <>
      <h2>Invocations in progress: {inProgress}</h2>
      <Table
        caption="Invocations in progress"
        none="none"
        rows={requests}
        keyOf={(one) => JSON.stringify(one)}
        columns={[
          { title: 'invocation', of: ({ waitsFor: _, seconds: __, since: ___, ...rest }) => inWords(rest) },
          { title: 'for', isNumber: true, of: ({ seconds }) => shownSeconds(seconds) },
          { title: 'waits for', of: ({ waitsFor }) => waitsFor },
        ]}
      />
    </>
  );
}

function BackendsTable({ backends }: { readonly backends: Readonly<Record<string, Backend>> }) {
  return (
    <>
      <h2>Backends</h2>
      <Table
        caption="Backends"
        none="none"
        rows={Object.entries(backends)}
        keyOf={([name]) => name}
        columns={[
          { title: 'backend', of: ([name]) => name },
          {
            title: 'circuit',
            of: ([, { circuit }]) => (
              <span class={circuit === 'open' ? 'is-failed' : 'is-ok'}>
                {circuit === 'open' ? '✗ open' : '✓ closed'}
              </span>
            ),
          },
          {
            title: 'outage',
            of: ([, { outage }]) => outage && `for ${shownSeconds(outage.seconds)}: ${outage.failure}`,
          },
          { title: 'connections', of: ([, { connections }]) => inWords(connections) },
          { title: 'oldest request', isNumber: true, of: ([, { oldestMs }]) => shownSeconds(oldestMs / 1000) },
        ]}
      />
    </>
  );
}

function PartitionsTable({ all: { total, partitions, elsewhere } }: { readonly all: Partitions }) {
  return (
    <>
      <h2>Partitions of this instance</h2>
      <p>{inWords(total)}</p>
      <Table
        caption="Partitions of this instance"
        none="none"
        rows={partitions}
        keyOf={({ partition }) => partition}
        columns={[
          {
            title: 'partition',
            of: ({ partition, state }) => `${partition}${state === 'reading' ? '' : `, ${state}`}`,
          },
          { title: 'behind', isNumber: true, of: ({ behindSeconds }) => shownSeconds(behindSeconds) },
          { title: 'read up to', isNumber: true, of: ({ position }) => (position < 0 ? 'nothing' : position) },
          {
            title: 'oldest not done',
            of: ({ oldest }) =>
              oldest ? `${oldest.sequenceNumber}, read ${shownSeconds(oldest.seconds)} ago` : 'none',
          },
          { title: 'checkpoint', of: ({ checkpoint }) => shownCheckpoint(checkpoint) },
        ]}
      />
      <h2>Other partitions</h2>
      <Table
        caption="Other partitions"
        none="none"
        rows={elsewhere}
        keyOf={({ partition }) => partition}
        columns={[
          { title: 'partition', of: ({ partition }) => partition },
          { title: 'owner', of: ({ owner }) => owner },
          { title: 'renewed', of: ({ renewedAt }) => renewedAt },
        ]}
      />
    </>
  );
}

function shownCheckpoint({ sequenceNumber, ageSeconds, unwritten, isFailing }: Partition['checkpoint']): string {
  return [
    ...(sequenceNumber === undefined || sequenceNumber < 0 ? ['none yet'] : [`at ${sequenceNumber}`]),
    `${shownSeconds(ageSeconds)} old`,
    ...(unwritten ? [`lacks ${unwritten}`] : []),
    ...(isFailing ? ['✗ cannot be written'] : []),
  ].join(', ');
}

/** Members of an object, in a line. */
export const inWords = (fields: Readonly<Record<string, unknown>>): string =>
  Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(', ');
