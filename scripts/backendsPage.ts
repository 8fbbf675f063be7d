import { readdirSync, readFileSync } from 'node:fs';
import { withTexts } from './writtenPart.ts';

/** Recorded by `npm run record -- transcripts`: each message end to end, with the calls of the backends. */
const folder = 'test/e2e/transcripts';

const names = { 'principal manager': 'PM', 'type registry': 'TR', 'information model': 'IM' } as const;

interface BackendCall {
  readonly backend: (typeof names)[keyof typeof names];
  readonly request: string;
  readonly body: string;
  readonly status: string;
  readonly answer: string;
}

/** One message, and what came of it. */
interface Exchange {
  readonly title: string;
  readonly message: string;
  readonly steps: readonly (BackendCall | { readonly reply: string })[];
}

/** Ids become names in braces, without spaces: `{object1}`. */
const withoutIds = (text: string) =>
  text
    .replace(/<(identity|object)(?:Id)? ?([^<>]*)>/g, (_, what, of) =>
      what === 'identity' ? '{identity}' : `{object${of.replace(/\D/g, '')}}`,
    )
    .replace(/<(\w[\w ]*)>/g, (_, name) => `{${name.replaceAll(' ', '')}}`)
    .replace(/\b[\da-f]{8}-(?:0000-4000-8000)-0+(\d+)\b/g, '{object$1}');

function readExchange(chapter: string): Exchange {
  const [title = '', ...lines] = withoutIds(chapter).split('\n');
  const joined = lines
    .join('\n')
    .replace(/\n {2}(?=[<>] )/g, '  ')
    .split('\n');
  const sent = joined.find((line) => / sends {2}/.test(line)) ?? '';
  const message = /(?:action|eventType)=(\S+)/.exec(sent.replace('msgType=action', ''))?.[1] ?? '';
  const steps = joined.flatMap((line): Exchange['steps'] => {
    const [, name, request = '', body = '', status = '', answer = ''] =
      /^(principal manager|type registry|information model) +(\w+ \S+)(?: {2}> (.*?))?(?: {2}|$)< (\d+)(?: (.*))?$/.exec(
        line,
      ) ?? [];
    if (name !== undefined) return [{ backend: names[name as keyof typeof names], request, body, status, answer }];
    if (!/ receives /.test(line)) return [];
    const [, eventType = 'notification'] = /eventType=(?:\w+\.)*(\w+)/.exec(line) ?? [];
    return [{ reply: /msgType=ack|platformEventAck/.test(line) ? 'acknowledgement' : eventType }];
  });
  return { title, message, steps };
}

const exchanges = readdirSync(folder).flatMap((file) =>
  readFileSync(`${folder}/${file}`, 'utf8').split(/^## /m).slice(1).map(readExchange),
);
const isCall = (step: Exchange['steps'][number]): step is BackendCall => 'backend' in step;

/** Those of the page, by how their titles begin. */
const chosen = [
  ...['A pump that nobody knows yet', 'The same pump again is found', 'A pump that has no owner yet'],
  ...['Its properties and variables are replaced, and', 'When the stored version is behind'],
  ...['References are created', 'A type that nobody knows yet is created'],
  ...['It updates an identity', 'An identity that is connected', 'A sensor behind it', 'Hierarchical'],
];

function diagram({ title, message, steps }: Exchange): string {
  const lines = steps.flatMap((step) => {
    if (!isCall(step)) return [`  S->>D: ${step.reply}`];
    const { backend, request, status } = step;
    return [`  S->>${backend}: ${decodeURIComponent(request)} → ${status}`];
  });
  const used = [
    'D as device',
    'S as service',
    ...Object.values(names).filter((name) => steps.some((step) => isCall(step) && step.backend === name)),
  ];
  const participants = used.map((name) => `  participant ${name}`);
  return [
    `**${message}**: ${title}`,
    '```mermaid',
    'sequenceDiagram',
    ...participants,
    `  D->>S: ${message}`,
    ...lines,
    '```',
  ].join('\n');
}

/** What is asked of a backend, whatever the ids. */
const operationOf = ({ backend, request }: BackendCall): string => {
  const [method = '', target = ''] = request.split(' ');
  const path = target.split('?', 1)[0] ?? '';
  return `${backend} ${method} ${path.replace(/\{\w+\}/g, '{}').replace(/(models|modelDefinitions|types|versions)\/[^/]+/g, '$1/{}')}`;
};

const shortest = (calls: readonly BackendCall[]) =>
  calls
    .toSorted((one, other) => one.body.length + one.answer.length - other.body.length - other.answer.length)
    .slice(0, 1);

function example({ backend, request, body, status, answer }: BackendCall): string {
  return [`${backend} ${request}`, ...(body ? [`> ${body}`] : []), `< ${status} ${answer}`.trimEnd()].join('\n');
}

function examples(): string {
  const calls = exchanges.flatMap(({ steps }) => steps.filter(isCall));
  const succeeded = calls.filter(({ status, answer }) => status < '300' && answer !== '{"data":[]}');
  const operations = [...new Set(succeeded.map(operationOf))].sort();
  const ofEach = operations.flatMap((name) => shortest(succeeded.filter((call) => operationOf(call) === name)));
  const mismatch = shortest(calls.filter(({ status, answer }) => status === '409' && answer.includes('"meta":{"')));
  return ['```', [...ofEach, ...mismatch].map(example).join('\n\n'), '```'].join('\n');
}

/** The page with the sequences of calls and an example of each call. */
export const backendsPage = (page: string): string =>
  withTexts(page, {
    sequences: chosen
      .map((beginning) => {
        const found = exchanges.find(({ title, steps }) => title.startsWith(beginning) && steps.some(isCall));
        if (found === undefined) throw new Error(`no transcript in ${folder} is titled "${beginning}…"`);
        return diagram(found);
      })
      .join('\n\n'),
    calls: examples(),
  });
