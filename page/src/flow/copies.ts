import { members } from '../text/rawJson.ts';
import { type Entry, textOf } from './entry.ts';
import type { Flow } from './flows.ts';
import { acknowledges } from './outcome.ts';

/** Ways to do again what was seen: each is a text to copy. */
export interface Copy {
  readonly as: string;
  readonly text: string;
}

/** Properties that every message of its generation has: `npm run device` and the tables add them. */
const ofCommand = new Set([
  ...['msgType', 'action', 'version', 'correlationId', 'ack'],
  ...['svc-messagetype', 'eventType', 'id'],
]);

/** A text as one word of a POSIX shell. */
export const quoted = (text: string): string =>
  /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** @param pageUrl of the sandbox's page, which sends messages */
export function copiesOf(flow: Flow, pageUrl: string): Copy[] {
  const first = flow.entries.find(({ kind }) => kind === 'd2c');
  if (!first) return [];
  return [
    { as: 'curl', text: curlOfMessage(first, pageUrl) },
    { as: 'npm run device', text: deviceCommand(first) },
    { as: 'test row', text: testRow(flow, first) },
  ];
}

/** @param urls of the backends, by name */
export function curlOfCall(entry: Entry, urls: Readonly<Record<string, string>>): string {
  const { server = '', method = 'GET', path = '', headers = {}, body } = entry;
  const words = ['curl', ...(method === 'GET' ? [] : ['-X', method])];
  words.push('-H', '"authorization: Bearer $TOKEN"');
  for (const [name, value] of Object.entries(headers)) words.push('-H', quoted(`${name}: ${value}`));
  if (body) words.push('--data-binary', quoted(body));
  return [...words, quoted(`${urls[server] ?? ''}${path}`)].join(' ');
}

function textProperties({ properties = {} }: Entry): [name: string, value: string][] {
  return Object.entries(properties).map(([name, value]) => [name, String(value)]);
}

function curlOfMessage(entry: Entry, pageUrl: string): string {
  const message = {
    deviceId: entry.deviceId,
    properties: Object.fromEntries(textProperties(entry)),
    body: textOf(entry) ?? '',
  };
  return `curl -H 'content-type: application/json' --data-binary ${quoted(JSON.stringify(message))} ${pageUrl}/messages`;
}

function deviceCommand(entry: Entry): string {
  const { deviceId = '', properties = {} } = entry;
  const name = String(properties['action'] ?? properties['eventType'] ?? 'telemetry');
  const more = textProperties(entry).filter(([property]) => !ofCommand.has(property));
  const ack =
    properties['ack'] === undefined || properties['ack'] === 'all' ? [] : ['--ack', String(properties['ack'])];
  const words = ['--id', deviceId, ...ack, ...more.flatMap(([property, value]) => ['--prop', `${property}=${value}`])];
  return `printf %s ${quoted(textOf(entry) ?? '')} | npm run device -- ${[...words, name].map(quoted).join(' ')} -`;
}

/** A row of the table of a message in `test/messages`: what it asks of the backends, and what the device gets. */
function testRow(flow: Flow, first: Entry): string {
  const properties = Object.fromEntries(textProperties(first).filter(([name]) => !ofCommand.has(name)));
  const calls = flow.entries.filter(({ kind }) => kind === 'http-request');
  const answerOf = (call: Entry) => flow.entries.find(({ request }) => request === call.position);
  const rows = calls.map((call) => {
    const answer = answerOf(call);
    const reply = [answer?.status ?? 'null', ...(answer?.body ? [asLiteral(answer.body)] : [])];
    const body = call.body ? `, body: ${asLiteral(call.body)}` : '';
    return `    { call: ${JSON.stringify(`${call.method} ${call.path}`)}${body}, reply: [${reply.join(', ')}] },`;
  });
  const ack = flow.entries.find(acknowledges);
  return [
    '{',
    `  it: ${JSON.stringify(`answers ${flow.name}`)},`,
    ...(Object.keys(properties).length > 0 ? [`  properties: ${JSON.stringify(properties)},`] : []),
    `  body: ${asLiteral(textOf(first) ?? '')},`,
    ...(rows.length > 0 ? ['  backend: [', ...rows, '  ],'] : []),
    `  ack: ${ack?.text === undefined ? 'undefined' : asLiteral(ack.text)},`,
    '}',
  ].join('\n');
}

/** JSON is a literal of the language too, unless its numbers are too large for it. */
const asLiteral = (text: string): string => (members(text) === undefined ? JSON.stringify(text) : text.trim());
