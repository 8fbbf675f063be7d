import { UsageError } from './usageError.ts';

/** A hub was asked and did not do it; the message is its sentence. */
export class HubRefused extends Error {
  override readonly name = 'HubRefused';
}

interface Request {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  body?: Record<string, unknown>;
}

/** What the admin port is asked for these words. Throws `UsageError`. */
export function requestFor(words: readonly string[]): Request {
  const [subject = '', verb = 'list', ...rest] = words;
  const [first] = rest;
  switch (`${subject} ${verb}`) {
    case 'devices list':
      return { method: 'GET', path: '/devices' };
    case 'devices add':
      return { method: 'POST', path: '/devices', body: { deviceId: needed(first, 'a device id'), ...key(rest[1]) } };
    case 'devices send':
      return {
        method: 'POST',
        path: `/devices/${encodeURIComponent(needed(first, 'a device id'))}/messages`,
        body: { body: needed(rest[1], 'a text'), ...pairs(rest.slice(2)) },
      };
    case 'devices remove':
      return { method: 'DELETE', path: `/devices/${encodeURIComponent(needed(first, 'a device id'))}` };
    case 'policies renew':
      return {
        method: 'POST',
        path: `/policies/${encodeURIComponent(needed(first, 'the name of a policy'))}/keys`,
        body: rest[1] === undefined ? {} : { key: rest[1] },
      };
    case 'faults list':
      return { method: 'GET', path: '/faults' };
    case 'faults kinds':
      return { method: 'GET', path: '/faults/kinds' };
    case 'faults add':
      return { method: 'POST', path: '/faults', body: { kind: needed(first, 'a kind'), ...pairs(rest.slice(1)) } };
    case 'faults clear':
      return { method: 'DELETE', path: first === undefined ? '/faults' : `/faults/${encodeURIComponent(first)}` };
    case 'connections list':
    case 'counters list':
    case 'partitions list':
      return { method: 'GET', path: `/${subject}` };
  }
  if (subject === 'journal') {
    const query = new URLSearchParams(words.slice(1).map(split));
    return { method: 'GET', path: `/journal?${query}` };
  }
  throw new UsageError(`There is no command "${words.join(' ')}"; --help lists what there is.`);
}

/** Ask a hub. The answer is its own, as data; undefined when it has nothing to say. Throws `HubRefused`. */
export async function ask(adminUrl: string, { method, path, body }: Request): Promise<unknown> {
  const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
  const response = await fetch(adminUrl + path, init);
  const text = await response.text();
  const answer: unknown = text === '' ? undefined : JSON.parse(text);
  if (!response.ok)
    throw new HubRefused((answer as { error?: string } | undefined)?.error ?? `status ${response.status}`);
  return answer;
}

const numbers = new Set(['times', 'skip', 'ms', 'downMs', 'events', 'bytes', 'status', 'connection']);
const booleans = new Set(['effect', 'closed']);

/** `name=value` words as the fields of a fault; `properties.colour=red` goes into `properties`. */
function pairs(words: readonly string[]): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  const properties: Record<string, string> = {};
  for (const [name, value] of words.map(split)) {
    if (name.startsWith('properties.')) properties[name.slice('properties.'.length)] = value;
    else if (numbers.has(name)) fields[name] = Number(value);
    else if (booleans.has(name)) fields[name] = value === 'true';
    else fields[name] = value;
  }
  return Object.keys(properties).length > 0 ? { ...fields, properties } : fields;
}

function split(word: string): [name: string, value: string] {
  const at = word.indexOf('=');
  if (at < 1) throw new UsageError(`"${word}" is not of the form name=value.`);
  return [word.slice(0, at), word.slice(at + 1)];
}

function needed(word: string | undefined, what: string): string {
  if (word === undefined) throw new UsageError(`The command needs ${what}; --help shows how.`);
  return word;
}

const key = (primaryKey: string | undefined) => (primaryKey === undefined ? {} : { primaryKey });
