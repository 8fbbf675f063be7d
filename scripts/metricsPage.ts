import type { Attribute, Declaration } from '@device-messaging/telemetry/meter.ts';
import { edgeMetrics } from '../edge/src/observing/metrics.ts';
import { chapters as ofServer } from '../src/observing/metrics.ts';
import { withText } from './writtenPart.ts';

/** Those of the process are the same in all programs. */
const chapters = { ...ofServer, 'Remote methods, at the edge proxy': edgeMetrics } as const;

/** As the exporter for Prometheus names it. */
export function prometheusNameOf(name: string, { kind }: Pick<Declaration, 'kind'>): string {
  const plain = name.replace(/\W/g, '_').replace(/_{2,}/g, '_');
  return kind === 'counter' ? `${plain}_total` : plain;
}

const chapter = ([title, metrics]: [string, Readonly<Record<string, Declaration>>]): string => {
  const rows = Object.entries(metrics).map(([name, { kind, unit, attributes, what, use }], index, all) => {
    const keys = attributes.map(({ key }) => `\`${key}\``).join(', ');
    const told = all[index - 1]?.[1].use === use ? 'As above.' : use;
    return `| \`${name}\` | ${kind} | \`${unit}\` | ${keys} | ${what} | ${told} |`;
  });
  return [
    `### ${title}\n`,
    '| metric | kind | unit | attributes | what it tells | what to make of it |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
    ...attributeTable(Object.values(metrics)),
  ].join('\n');
};

function attributeTable(declarations: readonly Declaration[]): string[] {
  const seen = new Map<string, Attribute>();
  for (const { attributes } of declarations) {
    for (const one of attributes) seen.set(`${one.key} ${one.what} ${one.values?.join()}`, one);
  }
  const rows = [...seen.values()].map(({ key, what, values }) => {
    const listed = values?.filter((value) => value !== '').map((value) => `\`${value}\``);
    return `| \`${key}\` | ${what} | ${listed?.join(', ') ?? ''} |`;
  });
  return rows.length === 0 ? [] : ['| attribute | what it says | values |', '|---|---|---|', ...rows, ''];
}

function constants(): string {
  const rows = Object.values(chapters).flatMap((metrics: Readonly<Record<string, Declaration>>) =>
    Object.entries(metrics).flatMap(([name, { constants: fixed }]) => {
      const pairs = Object.entries(fixed).map(([key, value]) => `\`${key}\` = \`${value}\``);
      return pairs.length === 0 ? [] : [`| \`${name}\` | ${pairs.join(', ')} |`];
    }),
  );
  return ['### Attributes that never change\n', '| metric | attributes |', '|---|---|', ...rows, ''].join('\n');
}

export const withMetrics = (page: string): string =>
  withText(page, 'metrics', [...Object.entries(chapters).map(chapter), constants()].join('\n').trimEnd());
