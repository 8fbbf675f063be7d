import type { z } from 'zod';
import type { connection } from '../admin/schemas.ts';
import type { FaultKind } from '../faults/kinds.ts';
import { called } from './called.ts';
import type { HubState } from './stateFile.ts';

/** A hub that has just started, for a person. */
export function introduction(state: HubState): string {
  const { ports, devices } = state;
  const names = Object.keys(devices);
  const device =
    names.length > 0 ? names.map((name) => `  ${name}  ${devices[name]}`) : [`  none: ${called} devices add pump-1`];
  return `
The hub ${state.name} listens on ${state.hostName}: MQTT ${ports.mqtts} (TLS), AMQP ${ports.amqp} and ${ports.amqps} (TLS)

Events    ${state.eventsConnectionString}
Service   ${state.serviceConnectionString}
Owner     ${state.ownerConnectionString}
Trust     NODE_EXTRA_CA_CERTS=${state.caFile}
Admin     ${state.adminUrl}
Devices
${device.join('\n')}

End       Ctrl-C
`;
}

/** Kinds of faults, a paragraph each. */
function explainKinds(kinds: readonly FaultKind[]): string {
  return kinds
    .map(({ kind, happens, what, fields }) => {
      const lines = Object.entries(fields).map(([name, use]) => `    ${name.padEnd(12)} ${use}`.trimEnd());
      return [`${kind} (${happens}): ${what}`, ...lines].join('\n');
    })
    .join('\n\n');
}

/** Connections, each with a line for each of its links. */
function explainConnections(connections: readonly Connected[]): string {
  return connections
    .map(({ links, ...connection }) => {
      const lines = links.map(
        ({ direction, address, credit, transfers }) =>
          `    ${direction.padEnd(3)}  ${address}  credit ${credit}, messages ${transfers}`,
      );
      return [Object.values(connection).join('  '), ...lines].join('\n');
    })
    .join('\n');
}

type Connected = z.infer<typeof connection>;

/** What a hub answered, for a person: a list of alike things as a table, anything else line by line. */
export function show(answer: unknown): string {
  if (answer === undefined) return 'Done.';
  const { last: _, ...shown } = answer as { last?: unknown };
  const values: unknown[] = Object.values(shown);
  const [only] = values;
  if ('kinds' in shown) return explainKinds(only as FaultKind[]);
  if ('connections' in shown && Array.isArray(only) && only.length > 0) return explainConnections(only);
  if (values.length === 1 && Array.isArray(only))
    return only.length === 0 ? 'None.' : table(only.map((row) => flat(row)));
  return Object.entries(flat(shown))
    .map(([name, value]) => `${name}  ${value}`)
    .join('\n');
}

/** Nested things as one level: `a.b`. */
function flat(value: unknown, prefix = ''): Record<string, string> {
  if (value === null || typeof value !== 'object') return { [prefix || 'value']: String(value) };
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      Object.entries(flat(inner, prefix === '' ? name : `${prefix}.${name}`)),
    ),
  );
}

function table(rows: readonly Record<string, string>[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const width = (name: string) => Math.max(name.length, ...rows.map((row) => (row[name] ?? '').length));
  const line = (cell: (name: string) => string) =>
    names
      .map((name) => cell(name).padEnd(width(name)))
      .join('  ')
      .trimEnd();
  return [line((name) => name), ...rows.map((row) => line((name) => row[name] ?? ''))].join('\n');
}
