import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkedBody, checkedHeaders, jsonBody, knownMembers } from '../../src/card/checks.ts';
import { findCard } from '../../src/messages/index.ts';
import { createEnvelopeReader } from '../../src/protocol/envelope.ts';
import type { Generation } from '../../src/protocol/event.ts';

const pages = ['README.md', ...readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : []))];
const textOf = (page: string) => readFileSync(page, 'utf8');

interface Example {
  readonly properties: Readonly<Record<string, string>>;
  readonly body?: string;
}

const readEnvelope = createEnvelopeReader({ defaultTimeoutSeconds: 300 });
const generationOf = ({ msgType }: Example['properties']): Generation => (msgType === undefined ? 'V1' : 'V2');

function read({ properties, body }: Example): string {
  const generation = generationOf(properties);
  const { envelope, refusal } = readEnvelope(generation, properties, 'd1', 'e1');
  if (refusal) throw refusal;
  const card = findCard(generation, envelope.name ?? '');
  if (card === undefined) throw new Error(`there is no message ${envelope.name}`);
  const headers = checkedHeaders(card, envelope);
  if (body === undefined) return card.name;
  const json = jsonBody(card, envelope, { body: Buffer.from(body) }, 512 * 1024);
  checkedBody(card, envelope, headers, json, knownMembers(card, json));
  return card.name;
}

const pairsIn = (text: string, between: RegExp) =>
  Object.fromEntries(text.split(between).map((pair) => pair.split(/=(.*)/s).slice(0, 2)));

/** Requests: a line of properties, which may go on, then the body in the same block or in the next. */
function messagesIn(page: string): Example[] {
  const block =
    /^((?:msgType=action|svc-messagetype=platformEvent) .*(?:\n\w.*)*)\n(?:```\n)?\n(?:```json\n)?([[{][^`]*?)\n```$/gm;
  return [...page.matchAll(block)].map(([, properties = '', body = '']) => ({
    properties: pairsIn(properties, /\s{2,}|\n/),
    body,
  }));
}

const isRequest = ({ properties: { eventType = '' } }: Example) => !eventType.startsWith('Svc.InformationModel.');

/** Topics of MQTT, and the properties in lines of the tap. */
const shorterIn = (page: string): Example[] => [
  ...[...page.matchAll(/\/messages\/events\/((?:msgType|svc-messagetype)=[^`"\s]+)/g)].map(([, topic = '']) => ({
    properties: pairsIn(decodeURIComponent(topic), /&/),
  })),
  ...[...page.matchAll(/ {2}properties=(\{"(?:msgType|svc-messagetype)".*?\})/g)].map(([, json = '']) => ({
    properties: JSON.parse(json),
  })),
];

const shown = pages.flatMap((page) =>
  [...messagesIn(textOf(page)), ...shorterIn(textOf(page))].filter(isRequest).map((example) => ({ page, example })),
);

describe('the messages on the pages', () => {
  it.each(shown)('are valid: $page, $example.properties', ({ example }) =>
    expect(read(example)).toBe(example.properties['action'] ?? example.properties['eventType']),
  );
  it('include at least one of each kind in the guide, and the first one in README', () => {
    const found = (page: string) => shown.filter((one) => one.page === page).length;
    expect(found('README.md')).toBe(1);
    expect(found('docs/devices.md')).toBeGreaterThanOrEqual(10);
  });

  const acks = pages.flatMap((page) =>
    [...textOf(page).matchAll(/\back=([^\s`&'",;)]*)/g)].map(([, ack = '']) => ({ page, ack })),
  );
  it.each(acks)('have a known value of ack: ack=$ack, $page', ({ ack }) => {
    const properties = { msgType: 'action', action: 'model.create', version: '2', correlationId: 'c', ack };
    expect(read({ properties })).toBe('model.create');
  });
});
