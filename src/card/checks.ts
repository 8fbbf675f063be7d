import { z } from 'zod';
import { bytesOfBody, decodeBody, readBody } from '../protocol/body.ts';
import { type Envelope, invalid } from '../protocol/envelope.ts';
import type { HubEvent } from '../protocol/event.ts';
import { faultsOf } from '../protocol/fields.ts';
import { type Json, memberOf, pickSmall, tooLargeReason } from '../protocol/json.ts';
import { listed, Rejection } from '../protocol/rejection.ts';
import type { Card } from './card.ts';

type Members = Readonly<Record<string, unknown>>;

/** The checks of a card, in their order (R9). Each throws the rejection of its stage. */

export function checkedHeaders({ headers }: Card, { generation, properties }: Envelope): unknown {
  const checked = headers.safeParse(properties);
  if (checked.success) return checked.data;
  throw new Rejection(invalid(generation), listed(faultsOf(checked.error, 'property')));
}

/** The body as JSON text within the limits, with the offsets of the card's keys. Its values are not checked yet. */
export function jsonBody(
  { maxBodyBytes, keys }: Card,
  { generation, properties }: Envelope,
  { body, systemProperties }: Pick<HubEvent, 'body' | 'systemProperties'>,
  maxInflatedBytes: number,
): Json {
  const contentEncoding = properties['content-encoding'];
  const text = decodeBody(body, generation, contentEncoding, maxInflatedBytes);
  const length = text.byteLength - 1;
  if (length > maxBodyBytes)
    throw new Rejection(invalid(generation), `body has ${length} bytes, more than the limit of ${maxBodyBytes}`);
  const standard = systemProperties?.['contentEncoding'];
  const isMisplaced = contentEncoding === undefined && /^(gzip|deflate)$/i.test(String(standard));
  const remark = isMisplaced
    ? `; the application property content-encoding counts, not the standard one, which says ${standard}`
    : '';
  return readBody(text, bytesOfBody(body), generation, keys.outermost, remark);
}

/** The members of the card's schema that can be read; undefined when the body is no object. */
export const knownMembers = ({ body }: Card, json: Json): Members | undefined =>
  body && json.isObject ? pickSmall(json, Object.keys(body.shape)) : undefined;

/** @param headers the result of `checkedHeaders` @param known the result of `knownMembers` */
export function checkedBody(card: Card, { generation }: Envelope, headers: unknown, json: Json, known?: Members) {
  const unclear = unclearMembers(card, json);
  const checked = card.body?.safeParse(known);
  const issues = checked?.error?.issues.filter(({ path: [key] }) => !unclear.some((one) => one.key === key)) ?? [];
  const faulty = new Set([...unclear.map(({ key }) => key), ...issues.map(({ path: [key] }) => key)]);
  const inShape = faulty.size === 0 ? checked?.data : shapely(card, known, faulty);
  const isComparable = card.body !== undefined && known !== undefined;
  const faults = [
    ...unclear.map(({ fault }) => fault),
    ...faultsOf({ issues }, 'body'),
    ...(isComparable ? card.crossChecks(headers, inShape, (key) => !faulty.has(key)) : []),
  ];
  if (faults.length > 0) throw new Rejection(invalid(generation), listed(faults));
  return checked?.data;
}

/** Members of the card whose value is not clear, or not read: those that occur twice or are too long. */
function unclearMembers({ body, keys }: Card, json: Json): { readonly key: string; readonly fault: string }[] {
  const twice = Array.from(json.twice, (key) => ({ key, fault: `body.${key} occurs twice` }));
  for (const [key, inner] of keys.nested) {
    for (const name of memberOf(json, key, inner)?.twice ?? [])
      twice.push({ key, fault: `body.${key}.${name} occurs twice` });
  }
  const excesses = Object.keys(body?.shape ?? {}).flatMap((key) => {
    const excess = tooLargeReason(json.members.get(key));
    return excess === undefined ? [] : [{ key, fault: `body.${key} ${excess}` }];
  });
  return [...twice, ...excesses];
}

/** The members that have their shape, as the schema reads them. */
function shapely({ body }: Card, known: Members | undefined, faulty: ReadonlySet<unknown>): Members {
  const readable = Object.entries(body?.shape ?? {}).filter(([key]) => !faulty.has(key));
  return Object.fromEntries(readable.map(([key, schema]) => [key, z.safeParse(schema, known?.[key]).data]));
}
