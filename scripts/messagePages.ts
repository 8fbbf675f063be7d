import { stories } from '../sandbox/stories/index.ts';
import type { Story } from '../sandbox/stories/story.ts';
import { propertiesOf } from '../sandbox/stories/wire.ts';
import type { Card } from '../src/card/card.ts';
import { catalogue } from '../src/messages/index.ts';
import { createSchemas, meanings, type Schema } from './asyncapi.ts';
import { beginOf, code, endOf, table, withText } from './writtenPart.ts';

/**
 * What pages say of each message: the catalogue in the guide for devices from the cards, its examples from the stories.
 * A message that has no chapter yet is given one, to be written on by hand (D76): what it would have to guess is
 * marked, and a test fails while a mark is left.
 */
export const messagePages: Readonly<Record<string, (page: string) => string>> = {
  'docs/devices.md': guide,
};

/** Marks what a person has to decide in a new chapter (D345). */
export const undecided = 'TODO:';

const catalogueTable = () =>
  table(
    ['message', 'generation', 'what it is for'],
    catalogue.map(({ name, generation, purpose }) => [code(name), generation, purpose]),
  );

/** The guide with the catalogue, a chapter for every card, and the example of every story. */
function guide(page: string): string {
  const missing = catalogue.filter(({ name }) => !page.includes(`\n### \`${name}\`\n`));
  const next = '## When it fails\n';
  const chapters = page.replace(next, () => `${missing.map(newChapter).join('')}${next}`);
  const whole = withText(chapters, 'messages', catalogueTable());
  return stories.reduce((text, story) => withText(text, `example of ${story.message}`, exampleText(story)), whole);
}

const newChapter = ({ name, purpose, headers }: Card): string =>
  [
    `### \`${name}\``,
    `${purpose}.`,
    table(['property', 'required', 'value'], propertyRows(headers)),
    `${beginOf(`example of ${name}`)}\n${endOf(`example of ${name}`)}`,
    `**Repeated**: ${undecided} what a second one does; begin with gives, succeeds or refused.\n\n`,
  ].join('\n\n');

function propertyRows(headers: Card['headers']): string[][] {
  const { properties = {}, required = [] } = createSchemas().request(headers) as {
    properties?: Readonly<Record<string, Schema>>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, schema]) => {
    const form = /"#\/components\/schemas\/(\w+)"/.exec(JSON.stringify(schema))?.[1] ?? 'text';
    const fallback = schema['default'] ? `; default \`${schema['default']}\`` : '';
    return [
      code(name),
      required.includes(name) ? 'yes' : 'no',
      `${meanings[name] ?? `${undecided} what it is for (${form})`}${fallback}`,
    ];
  });
}

function exampleText({ message, example }: Story): string {
  const { device = 'pump-1', body, replies } = example;
  const last = replies.length - 1;
  // Models are shown in full after the actions: events are deprecated.
  const isEvent = message.startsWith('Svc.');
  return [
    `The device${device === 'pump-1' ? '' : ` \`${device}\``} sends (\`npm run device -- ${message}\`)`,
    messageText(propertiesOf(message, example), body),
    ...replies.flatMap(({ what, properties, body }, index) => [
      `${index === 0 ? 'and receives ' : index === last ? 'and ' : ''}${what}${index === last ? ':' : ','}`,
      messageText(properties, isEvent && index !== last ? undefined : jsonText(body)),
    ]),
  ].join('\n\n');
}

/** On one line if it fits. */
function jsonText(body: unknown): string {
  const text = JSON.stringify(body, undefined, 2);
  const line = text.replaceAll(/\n */g, ' ');
  return line.length <= 140 ? line : text;
}

/** `name=value  name=value`, over as many lines as it takes, and the body if it is shown. */
function messageText(properties: Readonly<Record<string, string>>, body: string | undefined): string {
  const pairs = Object.entries(properties).map(([name, value]) => `${name}=${value}`);
  const lines = pairs.join('  ').replace(/(.{1,112})(?: {2}|$)/g, '$1\n');
  const text = `\`\`\`text\n${lines}\`\`\``;
  return body === undefined ? text : `${text}\n\n\`\`\`json\n${body}\n\`\`\``;
}
