import { parseArgs } from 'node:util';
import { codesIn } from './markdown.ts';

/** A message as the guide shows it: a block of properties, then a block with the body. */
export interface Shown {
  readonly properties: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A chapter of the guide about one message. */
export interface Chapter {
  readonly name: string;
  readonly text: string;
  /** The line that sends it. */
  readonly command: {
    readonly device: string;
    readonly props: readonly string[];
    readonly name: string;
    readonly file: string;
  };
  readonly request: Shown;
  readonly replies: readonly Shown[];
}

export const chaptersOf = (page: string): Chapter[] =>
  page.split(/^(?=##+ )/m).flatMap((text) => {
    const name = /^### `([\w.]+)`$/m.exec(text)?.[1];
    if (name === undefined) return [];
    const [request, ...replies] = messagesIn(text);
    if (request === undefined) throw new Error(`the chapter on ${name} shows no request`);
    return [{ name, text, command: commandIn(text), request, replies }];
  });

/** `name=value  name=value`, over as many lines as it takes. */
function messagesIn(text: string): Shown[] {
  return [...text.matchAll(/^```text\n([^`]+)```\n\n```json\n([^`]+)```$/gm)].map(([, properties = '', body = '']) => ({
    properties: Object.fromEntries(
      properties
        .trim()
        .split(/ {2,}|\n/)
        .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
    ),
    body,
  }));
}

function commandIn(text: string): Chapter['command'] {
  const line = /^npm run device -- (.*)$/m.exec(text.replaceAll('\\\n', ''))?.[1] ?? '';
  const { values, positionals } = parseArgs({
    args: line.split(/\s+/),
    allowPositionals: true,
    options: { id: { type: 'string', default: 'pump-1' }, prop: { type: 'string', multiple: true, default: [] } },
  });
  const [name = '', file = ''] = positionals;
  return { device: values.id, props: values.prop, name, file };
}

/** Every JSON block of a page. */
export const jsonBlocks = (page: string): string[] =>
  [...page.matchAll(/^```json\n([^`]*)```$/gm)].map(([, json = '']) => json);

/** Names of messages that are mentioned, whoever sends them. */
export const messageNamesIn = (page: string): string[] =>
  codesIn(page).filter((code) => /^(?:(?:model|type|reference|identity)\.\w+|Svc\.Device\.\w+)$/.test(code));
