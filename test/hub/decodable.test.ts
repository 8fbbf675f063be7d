import fc from 'fast-check';
import rhea from 'rhea';
import { describe, expect, it } from 'vitest';
import {
  beginning,
  compound,
  emptyElements,
  nestedDescriptors,
  nestedLists,
  plainMessages,
  section,
} from '../../iot-hub-emulator/test/support/rawAmqp.ts';
import { isFrameDecodable, sectionsOf } from '../../src/hub/decodable.ts';

/** Left out of the library's typings. */
const { Reader } = rhea.types as unknown as {
  Reader: new (bytes: Buffer) => { read(): unknown; readonly position: number };
};
const message = plainMessages();
const bytes = (...all: number[]) => Buffer.from(all);
const place = { sequenceNumber: 5, offset: 500, enqueuedTime: 1_700_000_000_000 };
const annotated = beginning(place, 'd1');
const withProperties = beginning(place, 'd1', { msgType: 'action' });
/** Without the empty properties that the library always writes. */
const endOfAnnotations = annotated.length - section('properties', bytes(0x45)).length;
const event = (body: Uint8Array) => Buffer.concat([withProperties, body]);
const smallBinary = bytes(0xa0, 1, 0x78);
const nulls = (count: number) => Buffer.alloc(count, 0x40);

/** A frame as a transport hands it over; the size in its header is not read. */
const frame = (performative: Uint8Array) => Buffer.concat([bytes(0, 0, 0, 0, 2, 0, 0, 0), performative]);
const open = (capabilities: Uint8Array) =>
  frame(Buffer.concat([bytes(0, 0x53, 0x10), compound(0xd0, 8, nulls(7), capabilities)]));

const harmless: [string, Uint8Array][] = [
  ['bytes', section('data', smallBinary)],
  ['bytes in several sections', Buffer.concat([section('data', smallBinary), section('data', smallBinary)])],
  ['a text', section('value', bytes(0xa1, 1, 0x78))],
  ['null', section('value', bytes(0x40))],
  ['as many values as a body may have', section('value', compound(0xd0, 4_095, nulls(4_095)))],
  ['32 levels', section('value', nestedLists(32))],
  ['32 descriptors', section('value', nestedDescriptors(32))],
  ['a few elements without bytes', section('value', emptyElements(256))],
  ['a section with a long descriptor', Buffer.concat([bytes(0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x75), smallBinary])],
];

/** What the library decodes, and the check refuses: one more of each thing than it allows. */
const beyond: [string, Uint8Array][] = [
  ['33 levels', section('value', nestedLists(33))],
  ['33 descriptors', section('value', nestedDescriptors(33))],
  ['33 descriptors in a row', section('value', Buffer.concat([...Array(33).fill(bytes(0, 0x40)), bytes(0x40)]))],
  ['33 levels of lists in an array', section('value', compound(0xf0, 1, bytes(0xd0), nestedLists(32).subarray(1)))],
  ['one value too many', section('value', compound(0xd0, 4_096, nulls(4_096)))],
  ['one value too many in a sequence', section('sequence', compound(0xd0, 4_096, nulls(4_096)))],
  ['one section too many', Buffer.concat(Array(4_097).fill(section('data', smallBinary)))],
  ...[0x40, 0x41, 0x42, 0x43, 0x44, 0x45].map((code): [string, Uint8Array] => [
    `257 elements without bytes, of type ${code.toString(16)}`,
    section('value', emptyElements(257, code)),
  ]),
  ['such elements in many arrays', section('value', compound(0xd0, 9, ...Array(9).fill(emptyElements(30))))],
];

/** What is no AMQP. */
const malformed: [string, Uint8Array][] = [
  ['one item more than bytes', section('value', compound(0xd0, 4, nulls(3)))],
  ['one element more than bytes', section('value', compound(0xf0, 3, bytes(0x50, 1)))],
  ['a size beyond the end', section('value', bytes(0xd0, 0, 0, 0, 5, 0, 0, 0, 0))],
  ['a size below its items', section('value', bytes(0xc0, 2, 2, 0x40, 0x40))],
  ['a size above its items', section('value', bytes(0xc0, 4, 1, 0x40, 0x40, 0x40))],
  ['a size without room for the count', section('value', bytes(0xd0, 0, 0, 0, 1, 0, 0, 0, 0))],
  ['an array whose size has room for no more than the count', section('value', bytes(0xe0, 1, 0, 0x40))],
  ['a text beyond the end', section('value', bytes(0xb1, 0, 0, 0, 2, 0x78))],
  ['bytes beyond the end', section('data', bytes(0xa0, 2, 0x78))],
  ['a number that is cut off', section('value', bytes(0x80, 0, 0))],
  ['a size that is cut off', section('value', bytes(0xd0, 0, 0))],
  ['an unknown type', section('value', bytes(0x46))],
  ['an array of an unknown type', section('value', bytes(0xe0, 2, 0, 0xff))],
  ['a text as data', section('data', bytes(0xa1, 1, 0x78))],
  ['no list as sequence', section('sequence', bytes(0x40))],
  ['two values', Buffer.concat([section('value', bytes(0x40)), section('value', bytes(0x40))])],
  ['bytes behind a value', Buffer.concat([section('value', bytes(0x40)), section('data', smallBinary)])],
  ['something wrong behind the body', Buffer.concat([section('data', smallBinary), section('footer', bytes(0x40))])],
];

describe('a message', () => {
  const upToBody = { body: withProperties.length, properties: endOfAnnotations + 7, annotated: endOfAnnotations };

  it.each(harmless)('can be decoded with %s as body', (_, body) => {
    expect(sectionsOf(event(body))).toEqual({ areDecodable: true, ...upToBody });
    expect(message.decode(event(body))).toMatchObject({ application_properties: { msgType: 'action' } });
  });

  it.each(beyond)('is refused with %s in its body, though the library decodes it', (_, body) => {
    expect(message.decode(event(body))).toHaveProperty('body');
    expect(sectionsOf(event(body))).toEqual({ areDecodable: false, ...upToBody });
  });

  it.each(malformed)('can be decoded up to its body, which has %s', (_, body) =>
    expect(sectionsOf(event(body))).toEqual({ areDecodable: false, ...upToBody }),
  );

  it.each([
    ['257 properties without bytes', section('applicationProperties', emptyElements(257))],
    ['too deep a property', section('applicationProperties', compound(0xd1, 2, bytes(0xa1, 1, 0x78), nestedLists(32)))],
    ['one property too many', section('applicationProperties', compound(0xd1, 65_536, nulls(65_536)))],
  ])('can be decoded up to the annotations with %s, though the library decodes it', (_, wrong) => {
    const whole = Buffer.concat([annotated, wrong, section('data', smallBinary)]);
    expect(message.decode(whole)).toHaveProperty('message_annotations');
    expect(sectionsOf(whole)).toEqual({ areDecodable: false, body: undefined, annotated: endOfAnnotations });
  });

  it.each([
    ['properties that are no map', section('applicationProperties', nestedLists(1))],
    ['standard properties that are no list', section('properties', compound(0xd1, 0))],
    ['a section that nobody knows', bytes(0, 0x53, 0x79, 0x40)],
    ['a section with a text as descriptor', bytes(0, 0xa3, 1, 0x78, 0x40)],
    ['a section with a descriptor beyond eight bits', bytes(0, 0x80, 0, 0, 0, 0, 0, 0, 1, 0x75, 0x40)],
    ['a section that is cut off', bytes(0, 0x53)],
    ['something that is no section', bytes(0x40)],
  ])('can be decoded up to the annotations with %s', (_, wrong) => {
    const whole = Buffer.concat([annotated, wrong, section('data', smallBinary)]);
    expect(sectionsOf(whole)).toEqual({ areDecodable: false, body: undefined, annotated: endOfAnnotations });
  });

  it('cannot be decoded at all when its annotations cannot', () => {
    const whole = section('messageAnnotations', emptyElements(257));
    expect(message.decode(whole)).toHaveProperty('message_annotations');
    expect(sectionsOf(whole)).toEqual({ areDecodable: false, body: undefined, annotated: 0 });
  });

  it('can be decoded when it has as many properties as their size allows', () => {
    const pairs = Array.from({ length: 10_900 }, (_, n) => [n.toString(36).padStart(3, '0'), ''] as const);
    expect(sectionsOf(beginning(place, 'd1', Object.fromEntries(pairs))).areDecodable).toBe(true);
  });

  it('can be decoded when a library has written it, with any content', () => {
    const [double, date] = [fc.double({ noInteger: true, noNaN: true }), fc.date({ noInvalidDate: true })];
    const leaf = fc.oneof(fc.string(), fc.integer(), double, fc.boolean(), fc.constant(null), date);
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(fc.string(), tie('value'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(value, fc.dictionary(fc.string(), leaf), (body, application_properties) => {
        expect(sectionsOf(rhea.message.encode({ application_properties, body } as never)).areDecodable).toBe(true);
      }),
    );
  });

  it('that passes the check is decoded by the library, for any bytes', () => {
    const kinds = [0x40, 0x45, 0x50, 0x53, 0x70, 0x80, 0xa0, 0xa1, 0xc0, 0xc1, 0xd0, 0xe0, 0xf0];
    const codes = fc.constantFrom(0, ...kinds, 1, 2, 3, 4);
    const anyBytes = fc.array(fc.oneof(codes, fc.nat(255)), { maxLength: 40 });
    let decodable = 0;
    fc.assert(
      fc.property(anyBytes, (all) => {
        const whole = section('value', Buffer.from(all));
        if (!sectionsOf(whole).areDecodable) return;
        decodable += 1;
        const reader = new Reader(whole);
        reader.read();
        expect(reader.position).toBe(whole.length);
      }),
      { numRuns: 20_000 },
    );
    expect(decodable).toBeGreaterThan(100);
  });
});

describe('a frame', () => {
  it.each([
    ['is empty', frame(bytes())],
    ['has 256 elements without bytes', open(emptyElements(256))],
    ['has 32 levels', open(nestedLists(31))],
    ['opens a connection', open(compound(0xf0, 1, bytes(0xa3, 1, 0x78)))],
    ['has bytes behind its performative', Buffer.concat([open(bytes(0x40)), Buffer.alloc(100, 0xff)])],
  ])('can be decoded when it %s', (_, given) => expect(isFrameDecodable(given)).toBe(true));

  it.each([
    ['257 elements without bytes', open(emptyElements(257))],
    ['33 levels', open(nestedLists(32))],
    ['more items than bytes', open(compound(0xd0, 1))],
    ['a cut performative', frame(bytes(0, 0x53))],
    ['no performative behind a longer header', Buffer.concat([bytes(0, 0, 0, 0, 3, 0, 0, 0), bytes(0, 0, 0, 0, 0xff)])],
  ])('cannot be decoded when it has %s', (_, given) => expect(isFrameDecodable(given)).toBe(false));
});
