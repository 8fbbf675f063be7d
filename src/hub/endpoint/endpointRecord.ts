import { z } from 'zod';
import type { DurableText } from '../stores/buildRecord.ts';
import { type EventEndpoint, isSameEndpoint } from './eventEndpoint.ts';

/** An endpoint of the hub that instances have read. */
export interface KnownEndpoint extends EventEndpoint {
  /** When the first instance came to it. */
  readonly since: Date;
  /** For one that a failover has brought: no event before this time is to be read there. */
  readonly after?: Date | undefined;
}

/** What is known of an endpoint that is about to be read. */
export interface EndpointEntry {
  readonly endpoint: KnownEndpoint;
  /** Those that the hub has had besides, in the order in which they came: it has failed over, now or earlier. */
  readonly others: readonly EventEndpoint[];
  /** It was not known before. */
  readonly isNew: boolean;
}

/*
 * [{"namespace","eventHub","since","after"?}, …], in the order in which they were first read. One record for each hub and
 * consumer group: an endpoint of its own would not know of the others.
 */
const time = z.iso.datetime().transform((text) => new Date(text));
const recordFormat = z
  .array(z.object({ namespace: z.string(), eventHub: z.string(), since: time, after: time.optional() }))
  .max(1_000);

/** Failovers, and ways back, are few. */
const mostKept = 100;
/** Attempts while other instances write at the same time. */
const mostRaces = 5;

/**
 * Enters the endpoint in the record, if it is not there. A record that cannot be understood is replaced.
 * @param next the endpoint, with the start position that it gets if it is new, and not the first
 * @throws Error when the store cannot be reached, or others keep changing the record
 */
export async function enterEndpoint(record: DurableText, next: KnownEndpoint): Promise<EndpointEntry> {
  for (let race = 0; race < mostRaces; race += 1) {
    const found = await record.read();
    const known = endpointsIn(found?.text ?? '');
    const endpoint = known.find((one) => isSameEndpoint(one, next));
    if (endpoint !== undefined) return { endpoint, others: known.filter((one) => one !== endpoint), isNew: false };
    const { after: _, ...first } = next;
    const entered = known.length === 0 ? first : next;
    const text = JSON.stringify([...known, entered].slice(-mostKept));
    if (await record.write(text, found?.etag)) return { endpoint: entered, others: known, isNew: true };
  }
  throw new Error('the record of endpoints keeps being changed by other instances');
}

function endpointsIn(text: string): readonly KnownEndpoint[] {
  try {
    return recordFormat.parse(JSON.parse(text));
  } catch {
    return [];
  }
}
