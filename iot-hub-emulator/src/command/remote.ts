import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AdminRequest } from '../admin/ask.ts';
import { UsageError } from './usageError.ts';

/** What the admin port is asked for these words. Paths of files count from `from`. Throws `UsageError`. */
export function requestFor(words: readonly string[], from = process.cwd()): AdminRequest {
  const [subject = '', verb = 'list', ...rest] = words;
  const [first] = rest;
  switch (`${subject} ${verb}`) {
    case 'devices list':
      return { method: 'GET', path: '/devices' };
    case 'devices add':
      return {
        method: 'POST',
        path: '/devices',
        body: { deviceId: needed(first, 'a device id'), ...proof(rest.slice(1), from) },
      };
    case 'devices send':
      return {
        method: 'POST',
        path: `/devices/${encodeURIComponent(needed(first, 'a device id'))}/messages`,
        body: { body: needed(rest[1], 'a text'), ...pairs(rest.slice(2)) },
      };
    case 'devices show':
      return { method: 'GET', path: `/devices/${encodeURIComponent(needed(first, 'a device id'))}` };
    case 'devices remove':
      return { method: 'DELETE', path: `/devices/${encodeURIComponent(needed(first, 'a device id'))}` };
    case 'devices twin':
    case 'devices queue': {
      const device = `/devices/${encodeURIComponent(needed(first, 'a device id'))}`;
      return { method: 'GET', path: `${device}/${verb === 'twin' ? 'twin' : 'messages'}` };
    }
    case 'certificates add': {
      const certificate = read(needed(rest[1], 'the file of a certificate'), from);
      const isVerified = rest[2] === 'verified';
      return {
        method: 'POST',
        path: '/certificates',
        body: { name: needed(first, 'a name'), certificate, isVerified },
      };
    }
    case 'certificates code':
      return { method: 'POST', path: `${certificatePath(first)}/generateVerificationCode` };
    case 'certificates verify': {
      const certificate = read(needed(rest[1], 'the file of a certificate'), from);
      return { method: 'POST', path: `${certificatePath(first)}/verify`, body: { certificate } };
    }
    case 'certificates remove':
      return { method: 'DELETE', path: certificatePath(first) };
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
      return addFault(needed(first, 'a kind'), rest.slice(1));
    case 'faults clear':
      return { method: 'DELETE', path: first === undefined ? '/faults' : `/faults/${encodeURIComponent(first)}` };
    case 'connections list':
    case 'certificates list':
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

/** `seconds=N` says for how long; the other words are the fields of the fault. */
function addFault(kind: string, words: readonly string[]): AdminRequest {
  const [ofTime, ofFault] = [true, false].map((is) => words.filter((word) => word.startsWith('seconds=') === is));
  const query = new URLSearchParams(ofTime?.map(split)).toString();
  return { method: 'POST', path: `/faults${query === '' ? '' : `?${query}`}`, body: { kind, ...pairs(ofFault ?? []) } };
}

const numbers = new Set(['times', 'skip', 'ms', 'downMs', 'events', 'bytes', 'status', 'connection', 'errorCode']);
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

const certificatePath = (name: string | undefined): string =>
  `/certificates/${encodeURIComponent(needed(name, 'the name of a certificate'))}`;

/** How a device proves who it is: `certificate=FILE`, once or twice, or `authority`; else a key, or nothing is said of it. */
function proof(words: readonly string[], from: string): Record<string, unknown> {
  const [first] = words;
  if (first === undefined) return {};
  if (first === 'authority') return { authentication: { type: 'certificateAuthority' } };
  if (!first.startsWith('certificate=')) return { primaryKey: first };
  const [primaryThumbprint, secondaryThumbprint] = words.map((word) => thumbprint(split(word)[1], from));
  return { authentication: { type: 'selfSigned', primaryThumbprint, secondaryThumbprint } };
}

function thumbprint(file: string, from: string): string {
  try {
    return new X509Certificate(read(file, from)).fingerprint256.replaceAll(':', '');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${file} is no certificate in the form PEM.`);
  }
}

function read(file: string, from: string): string {
  try {
    return readFileSync(resolve(from, file), 'utf8');
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}
