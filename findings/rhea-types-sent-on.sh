#!/usr/bin/env bash
# rhea: a program that passes on the properties of a message as it got them changes their AMQP types. Wide integers and uuids become binary, a long
# just beyond 2^53 another number, a whole double an integer, and names (symbols) text: a consumer that selects by type or value sees something else.
. "$(dirname "$0")/common.sh"
packages rhea@3.0.5
seen <<'JS'
import rhea from 'rhea';

const { types } = rhea;
const sent = {
  'double 2.0': types.wrap_double(2),
  'float 1.1': types.wrap_float(1.1),
  'long 2^53 + 1': types.wrap_long(Buffer.from('0020000000000001', 'hex')),
  'ulong 2^64 - 1': types.wrap_ulong(Buffer.from('ffffffffffffffff', 'hex')),
  'uuid 00112233-…': types.wrap_uuid(Buffer.from('00112233445566778899aabbccddeeff', 'hex')),
  'symbol name': types.wrap_symbol('name'),
};
const names = { 82: 'double', 72: 'float', 81: 'long', 80: 'ulong', 98: 'uuid', a3: 'symbol', a1: 'string', a0: 'binary', 52: 'uint', 55: 'long' };

for (const [name, value] of Object.entries(sent)) {
  const encode = (one) => rhea.message.encode({ application_properties: { x: one }, body: '' });
  const typeIn = (bytes) => names[bytes[bytes.indexOf('x') + 1].toString(16)];
  const { x } = rhea.message.decode(encode(value)).application_properties;
  const read = Buffer.isBuffer(x) ? `Buffer ${x.toString('hex')}` : `${typeof x} ${x}`;
  console.log(`${name}: sent as ${typeIn(encode(value))}, read as ${read}, sent on as ${typeIn(encode(x))}`);
}
JS
expected <<'TEXT'
double 2.0: sent as double, read as number 2, sent on as uint
float 1.1: sent as float, read as number 1.100000023841858, sent on as double
long 2^53 + 1: sent as long, read as number 9007199254740992, sent on as ulong
ulong 2^64 - 1: sent as ulong, read as Buffer ffffffffffffffff, sent on as binary
uuid 00112233-…: sent as uuid, read as Buffer 00112233445566778899aabbccddeeff, sent on as binary
symbol name: sent as symbol, read as string name, sent on as string
TEXT
