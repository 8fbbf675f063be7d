import { areas } from '../catalogue.ts';
import type { Outcome } from '../lab/probe.ts';
import type { Target } from '../lab/target.ts';

/** What relies on a fact: rules, and code that cites it. */
export interface Reliance {
  readonly rules: readonly string[];
  readonly files: readonly string[];
}

/** By the id of the fact. */
export type Reliances = Readonly<Record<string, Reliance>>;

export const countOf = (outcomes: readonly Outcome[], wanted: Outcome['result']): number =>
  outcomes.filter(({ result }) => result === wanted).length;

/** A page about one run. */
export function report(what: string, outcomes: readonly Outcome[], reliances: Reliances): string {
  const byId = new Map(outcomes.map((outcome) => [outcome.id, outcome]));
  const list = (wanted: Outcome['result']) => outcomes.filter(({ result }) => result === wanted);
  const saysOf = (id: string) => areas.flatMap(({ facts }) => facts).find((fact) => fact.id === id)?.says ?? '';
  const differing = list('differs').map(({ id, why = '' }) => {
    const { rules = [], files = [] } = reliances[id] ?? {};
    const relied = [...rules, ...files.map((file) => `\`${file}\``)].join(', ');
    return `### ${id}\n\nBelieved: ${saysOf(id)}\n\nSeen: ${why}\n\nWhat relies on it: ${relied || 'nothing'}\n`;
  });
  const rows = (wanted: Outcome['result'], cells: (outcome: Outcome) => string) => list(wanted).map(cells).join('\n');
  return [
    `# Facts about ${what}\n`,
    `${byId.size} facts: ${countOf(outcomes, 'held')} held, ${countOf(outcomes, 'differs')} differ, ${countOf(outcomes, 'not tried')} were not tried.\n`,
    '## Differs\n',
    differing.length === 0 ? 'None.\n' : differing.join('\n'),
    '## Held\n',
    `${rows('held', ({ id }) => `- ${id}: ${saysOf(id)}`)}\n`,
    '## Not tried\n',
    `${rows('not tried', ({ id, why }) => `- ${id}: ${why}`)}\n`,
  ].join('\n');
}

/** A text without the keys of this run, also where an error has had them. */
export function withoutKeys(text: string, { hub, events, storage = '' }: Target): string {
  const keys = [hub, events, storage].flatMap((one) =>
    [...one.matchAll(/(?:SharedAccessKey|AccountKey)=([^;]+)/gi)].map(([, key = '']) => key),
  );
  return keys.reduce((rest, key) => rest.replaceAll(key, '…'), text);
}
