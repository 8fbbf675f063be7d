import { decodeBody, readBody } from '../protocol/body.ts';
import { listed } from '../protocol/details.ts';
import { type Envelope, invalid } from '../protocol/envelope.ts';
import { faultsOf } from '../protocol/fields.ts';
import { excessOf, type Json, memberOf, pickSmall } from '../protocol/json.ts';
import { Rejection } from '../protocol/rejection.ts';
import type { Card } from './card.ts';

/** The checks of a card, in their order (R9). Each throws the rejection of its stage. */

export function checkedHeaders({ headers }: Card, { generation, properties }: Envelope): unknown {
  const checked = headers.safeParse(properties);
  if (checked.success) return checked.data;
  throw new Rejection(invalid(generation), faultsOf(checked.error, 'property'));
}

/** The body as JSON text within the limits, with the offsets of the card's keys. Its values are not checked yet. */
export function jsonBody(
  { maxBodyBytes, keys }: Card,
  { generation, properties }: Envelope,
  body: unknown,
  maxInflatedBytes: number,
): Json {
  const text = decodeBody(body, generation, properties['content-encoding'], maxInflatedBytes);
  const length = text.byteLength - 1;
  if (length > maxBodyBytes) {
    throw new Rejection(invalid(generation), `body has ${length} bytes, more than the limit of ${maxBodyBytes}`);
  }
  return readBody(text, generation, keys.outermost);
}

/** The members of the card's schema that can be read; undefined when the body is no object. */
export const knownMembers = ({ body }: Card, json: Json): Readonly<Record<string, unknown>> | undefined =>
  body && json.isObject ? pickSmall(json, Object.keys(body.shape)) : undefined;

/** @param known the result of `knownMembers` */
export function checkedBody(
  { body, keys }: Card,
  { generation }: Envelope,
  json: Json,
  known: Readonly<Record<string, unknown>> | undefined,
): unknown {
  const twice = Array.from(json.twice, (name) => `body.${name} occurs twice`);
  for (const [key, inner] of keys.nested) {
    for (const name of memberOf(json, key, inner)?.twice ?? []) twice.push(`body.${key}.${name} occurs twice`);
  }
  if (twice.length > 0) throw new Rejection(invalid(generation), listed(twice));
  if (body === undefined) return undefined;
  const excesses = Object.keys(body.shape).flatMap((key) => {
    const member = json.members.get(key);
    const excess = member && excessOf(member);
    return excess === undefined ? [] : [`body.${key} ${excess}`];
  });
  if (excesses.length > 0) throw new Rejection(invalid(generation), listed(excesses));
  const checked = body.safeParse(known);
  if (!checked.success) throw new Rejection(invalid(generation), faultsOf(checked.error, 'body'));
  return checked.data;
}
