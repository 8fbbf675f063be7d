import { decodeBody, readBody } from '../protocol/body.ts';
import { type Envelope, invalid } from '../protocol/envelope.ts';
import { faultsOf } from '../protocol/fields.ts';
import type { Json } from '../protocol/json.ts';
import { Rejection } from '../rejection.ts';
import type { Card } from './card.ts';

/** The checks that a card declares, in the order in which they are made (R9). Each throws the rejection of its stage. */

export function checkedHeaders({ headers }: Card, { generation, properties }: Envelope): unknown {
  const checked = headers.safeParse(properties);
  if (checked.success) return checked.data;
  throw new Rejection(invalid(generation), faultsOf(checked.error, 'property'));
}

/** @param charge is told the size of a body that had to be decompressed (R6) */
export async function jsonBody(
  { maxBodyBytes }: Card,
  { generation, properties }: Envelope,
  body: unknown,
  maxInflatedBytes: number,
  charge: (bytes: number) => void,
): Promise<Json> {
  const bytes = await decodeBody(body, generation, properties['content-encoding'], maxInflatedBytes);
  if (bytes !== body) charge(bytes.byteLength);
  if (bytes.byteLength > maxBodyBytes) {
    throw new Rejection(
      invalid(generation),
      `body has ${bytes.byteLength} bytes, more than the limit of ${maxBodyBytes}`,
    );
  }
  return readBody(bytes, generation);
}

export function checkedBody({ reads, body }: Card, { generation }: Envelope, { value, duplicates }: Json): unknown {
  const twice = duplicates.filter((path) => reads.includes(path));
  if (twice.length > 0) {
    throw new Rejection(invalid(generation), twice.map((path) => `body.${path} occurs twice`).join('; '));
  }
  const checked = body?.safeParse(value);
  if (checked?.success === false) throw new Rejection(invalid(generation), faultsOf(checked.error, 'body'));
  return checked?.data;
}
