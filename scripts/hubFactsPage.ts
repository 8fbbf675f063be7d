import { type Way, ways } from 'iot-hub-emulator';
import { areas, type Fact, facts } from 'iot-hub-emulator/facts';
import { expected } from './hubFacts/expected.ts';
import { reliances } from './hubFacts/reliances.ts';

const backingOf = ({ sources }: Fact): string => sources.map(({ kind, what }) => `${kind}: ${what}`).join('; ');

const takenFrom = { readers: 'readers a partition', feedback: 'services feedback, for a while' } as const;

const checkOf = ({ check }: Fact): string => {
  if (typeof check === 'string') return `not probed: ${check}`;
  return check.disturbs === undefined ? 'probed' : `probed; takes from other ${takenFrom[check.disturbs]}`;
};

const otherwiseOf = ({ id, noOtherWay }: Fact): string =>
  id in ways ? `${ways[id as Way]}` : noOtherWay === undefined ? '' : `none: ${noOtherWay}`;

const row = (...cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

export function hubFactsPage(): string {
  const chapters = areas.map(({ title, facts }) =>
    [
      `## ${title}\n`,
      row('fact', 'what is believed', 'what backs it', 'check', 'the contrary'),
      '|---|---|---|---|---|',
      ...facts.map((fact) => row(`\`${fact.id}\``, fact.says, backingOf(fact), checkOf(fact), otherwiseOf(fact))),
    ].join('\n'),
  );
  return `# What is believed of IoT Hub

<!-- Written by \`npm run docs\` from \`facts/\`. -->

Nothing here was measured at a real hub yet. \`npm run hub-facts\` asks a hub: this one, or a real one by its connection strings
([README](../README.md#what-is-believed-and-how-to-ask-a-real-hub)). *Page* is an official page of Azure, *client* the source of an official client, *thread* an
exchange with a real hub that was published, *inference* what follows from one of these, or is contradicted by none.

\`--otherwise FACT\` (\`otherwise\` in code) starts a hub that has the *contrary* of a fact for which only a thread or an inference speaks.

${chapters.join('\n\n')}
`;
}

/** The page about what the service makes of it. */
export function hubReliancesPage(): string {
  const relied = facts
    .filter(({ id }) => id in ways && expected[id as Way]?.says !== 'no difference')
    .map(({ id }) => {
      const { rules = [] } = reliances[id] ?? {};
      const { works = true, says = '', events = [] } = expected[id as Way] ?? {};
      const logged = events.length === 0 ? '' : ` (${events.map((event) => `\`${event}\``).join(', ')})`;
      return row(`\`${id}\``, rules.join(', '), `${works ? 'works' : 'fails'}: ${says}${logged}`);
    });
  return `# What the service relies on at the hub

<!-- Written by \`npm run docs\` from \`scripts/hubFacts/\`. -->

[What is believed of IoT Hub](../../iot-hub-emulator/docs/facts.md) has what each fact says, and its contrary. These rules rely on it (\`scripts/hubFacts/reliances.ts\` names them all, with the files, [D427](decisions.md#d427--what-relies-on-a-fact-about-the-hub)),
and what the service does at a hub that has the contrary ([D428](decisions.md#d428--the-service-at-a-hub-that-is-otherwise)). \`npm run hub-facts -- --service\` runs its
messages at each of them, and for methods the invocations of the demonstration. A fact is here when its contrary makes a difference.

${row('fact', 'rules', 'at a hub with the contrary the service')}
|---|---|---|
${relied.join('\n')}
`;
}
