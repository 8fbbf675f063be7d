import type { Connection } from 'rhea';

// AMQP lets a writer leave out the null fields at the end of a list, and rhea does. Clients that take fields by their
// place fail then, and Azure writes all of them (H11).

/** How many fields the composite types have that a hub writes, by descriptor. */
const fieldCounts: Readonly<Record<number, number>> = {
  16: 10, // open
  17: 8, // begin
  18: 14, // attach
  19: 11, // flow
  20: 11, // transfer
  21: 6, // disposition
  22: 3, // detach
  23: 1, // end
  24: 1, // close
  29: 3, // error
  37: 1, // rejected
  39: 3, // modified
  40: 11, // source
  41: 7, // target
};

const transfer = 0x14; // nothing in it has fields of its own

/** Write each frame of this connection, and what is in it, with all its fields. */
export function completeFrames(connection: Connection): void {
  const state = connection as unknown as ConnectionState;
  const { _write_frame: write } = state;
  state._write_frame = (channel, performative, payload) => {
    if (performative) complete(performative.value, performative.constructor.descriptor.numeric);
    write.call(connection, channel, performative, payload);
  };
}

function complete(fields: unknown[], code: number): void {
  const count = fieldCounts[code] ?? 0;
  if (fields.length < count) fields.length = count;
  if (code === transfer) return;
  for (const field of fields) {
    const { descriptor, value } = (field ?? {}) as Partial<Described>;
    if (descriptor && Array.isArray(value)) complete(value, Number(descriptor.value));
  }
}

/** A value of rhea's with a descriptor. */
interface Described {
  readonly descriptor: { readonly value: unknown };
  readonly value: unknown;
}

/** A frame of rhea's: its fields are in `value`, in their order. */
interface Performative {
  readonly constructor: { readonly descriptor: { readonly numeric: number } };
  readonly value: unknown[];
}

/** A part of rhea's connections that its typings leave out. */
interface ConnectionState {
  _write_frame(channel: number, performative: Performative | undefined, payload: unknown): void;
}
