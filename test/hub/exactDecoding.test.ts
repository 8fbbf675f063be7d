import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import {
  compound,
  emptyElements,
  nestedDescriptors,
  nestedLists,
  plainMessages,
  section,
} from '../../iot-hub-emulator/test/support/rawAmqp.ts';
import { createExactDecoding } from '../../src/hub/exactDecoding.ts';
import { boundDecoding } from '../../src/hub/sdkCures.ts';
import { createRandom, type Random } from '../chaos/random.ts';
import { firstSeed, runs, saySeed } from '../support/seed.ts';

// The library's own decoding within the bounds of D190 is the measure, except for application properties: their texts are
// known from how their bytes were made (R4).

const library = plainMessages();
const frames = { read_frame: () => null };
const [bounded, exact] = [{ ...library }, { ...library }];
boundDecoding(bounded, frames);
boundDecoding(exact, frames, createExactDecoding);
const { usual } = createExactDecoding(library);

type Decoded = Readonly<{ application_properties?: Readonly<Record<string, unknown>>; body?: unknown }>;
const bytes = (...all: number[]) => Buffer.from(all);
const code = (first: number, hex: string) => Buffer.concat([bytes(first), Buffer.from(hex.replaceAll(' ', ''), 'hex')]);
const str = (text: string) => Buffer.concat([bytes(0xa1, Buffer.byteLength(text)), Buffer.from(text)]);
/** A text, null, or the type that has no text. */
type Said = string | null | { type: string | undefined };
const said = (value: unknown): Said => {
  if (typeof value === 'symbol') return { type: value.description };
  return value === null ? null : String(value);
};

/** Fails when the message is not decoded as by the library but for application properties; answers these. */
function decodedLikeLibrary(message: Buffer): Decoded['application_properties'] {
  const [{ application_properties: rounded, ...rest }, { application_properties: read, ...others }] = [
    bounded.decode(message) as Decoded,
    exact.decode(message) as Decoded,
  ];
  if (!isDeepStrictEqual(rest, others)) expect(others, message.toString('hex')).toEqual(rest);
  if (!isDeepStrictEqual(Object.keys(read ?? {}), Object.keys(rounded ?? {})))
    expect(Object.keys(read ?? {}), message.toString('hex')).toEqual(Object.keys(rounded ?? {}));
  return read;
}

it.each([
  ['long', code(0x81, '0020000000000001'), '9007199254740993'],
  ['negative long', code(0x81, '8000000000000000'), '-9223372036854775808'],
  ['small long', code(0x55, 'ff'), '-1'],
  ['ulong', code(0x80, 'ffffffffffffffff'), '18446744073709551615'],
  ['safe ulong', code(0x80, '001fffffffffffff'), '9007199254740991'],
  ['uint', code(0x70, 'ffffffff'), '4294967295'],
  ['int', code(0x71, '80000000'), '-2147483648'],
  ['ushort', code(0x60, 'ffff'), '65535'],
  ['byte', code(0x51, '80'), '-128'],
  ['boolean', code(0x56, '01'), 'true'],
  ['false', bytes(0x42), 'false'],
  ['double', code(0x82, '3ff8000000000000'), '1.5'],
  ['float', code(0x72, 'c0000000'), '-2'],
  ['char', code(0x73, '0001f600'), '😀'],
  ['timestamp', code(0x83, '000001 8bcfe56800'), '2023-11-14T22:13:20.000Z'],
  ['uuid', code(0x98, '6F9619FF8B865011B42D00CF4FC964FF'), '6f9619ff-8b86-5011-b42d-00cf4fc964ff'],
  ['symbol', code(0xa3, '02 6331'), 'c1'],
  ['null', bytes(0x40), null],
  ['binary', code(0xa0, '10 6F9619FF8B865011B42D00CF4FC964FF'), { type: 'binary' }],
  ['decimal', code(0x84, '2238000000000001'), { type: 'decimal' }],
  ['surrogate', code(0x73, '0000d800'), { type: 'char' }],
  ['timestamp of another age', code(0x83, '001eb208c2dc0001'), { type: 'timestamp' }],
  ['timestamp beyond numbers', code(0x83, '7fffffffffffffff'), { type: 'timestamp' }],
  ['list', nestedLists(2), { type: 'list' }],
  ['map', compound(0xd1, 2, str('n'), bytes(0x44)), { type: 'map' }],
  ['array', emptyElements(2), { type: 'array' }],
  ['described value', nestedDescriptors(1), { type: 'described value' }],
])('an application property of type %s has its exact text, or none', (_, value, expected) => {
  const properties = section('applicationProperties', compound(0xd1, 4, str('x'), value, str('after'), str('a')));
  for (const body of [
    section('data', bytes(0xa0, 1, 0x78)),
    section('value', bytes(0x40)),
    section('value', nestedLists(33)),
  ]) {
    const read = decodedLikeLibrary(Buffer.concat([properties, body]));
    expect([said(read?.['x']), read?.['after']]).toEqual([expected, 'a']);
  }
});

const words = ['correlationId', 'x-opt-offset', 'toString', '', 'ü€', '\u{1f600}', 'x'.repeat(255), 'x'.repeat(256)];
const edges = [0n, 128n, 256n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 63n, 8_640_000_000_000_000n];

it('a property __proto__ changes no object', () => {
  const map = compound(0xd1, 4, str('__proto__'), bytes(0x40), str('x'), code(0x81, '0020000000000001'));
  expect(Object.entries(decodedLikeLibrary(section('applicationProperties', map)) ?? {})).toEqual([
    ['x', '9007199254740993'],
  ]);
});

/** What the bounds of D190 allow at most, and one more. */
const atLimits = [31, 32, 33].flatMap((levels) => [nestedLists(levels), nestedDescriptors(levels)]);
atLimits.push(emptyElements(256), emptyElements(257));
for (const count of [998, 1_000, 1_002, 4_094, 4_096, 65_534, 65_536])
  for (const kind of [0xd0, 0xd1]) atLimits.push(compound(kind, count, Buffer.alloc(count, 0x40)));
const x = str('x');
/** A wrong size or count. */
const malformed = [-2, -1, 1, 2].flatMap((difference) =>
  [compound(0xd1, 4, x, x, x, x), compound(0xd0, 2, x, x)].flatMap((whole) =>
    [4, 8].map((place) => Buffer.from(whole).fill((whole[place] ?? 0) + difference, place, place + 1)),
  ),
);

it('values at the limits, and malformed ones, are decoded as by the library', () => {
  for (const value of [...atLimits, ...malformed]) {
    for (const kind of ['messageAnnotations', 'applicationProperties', 'properties', 'value'] as const) {
      decodedLikeLibrary(Buffer.concat([section(kind, value), section('data', bytes(0xa0, 1, 0x78))]));
      decodedLikeLibrary(section(kind, compound(kind === 'properties' ? 0xd0 : 0xd1, 2, x, value)));
    }
  }
});

const nested: [encoded: Buffer, said: Said][] = [
  [bytes(0x45), { type: 'list' }],
  [nestedLists(2), { type: 'list' }],
  [emptyElements(3), { type: 'array' }],
  [compound(0xd1, 2, str('n'), nestedLists(1)), { type: 'map' }],
  [nestedDescriptors(1), { type: 'described value' }],
];

/** Messages of any form, and what their application properties say. */
function createMessages({ next, between, pick }: Random) {
  const some = (count: number) => Buffer.from(Array.from({ length: count }, () => between(0, 255)));
  const often = (likelihood: number) => next() < likelihood;

  /** Most of them close to where something changes. */
  function integer(first: number, width: number): [encoded: Buffer, bits: bigint] {
    const number = often(0.7) ? pick(edges) + BigInt(between(-2, 2)) : some(8).readBigUInt64BE();
    const bits = BigInt.asUintN(8 * width, often(0.5) ? number : -number);
    return [code(first, bits.toString(16).padStart(2 * width, '0')), bits];
  }

  function sized(small: number, content: Buffer): Buffer {
    const isSmall = content.length < 256 && often(0.8);
    const size = Buffer.alloc(isSmall ? 1 : 4);
    size.writeUIntBE(content.length, 0, size.length);
    return Buffer.concat([bytes(isSmall ? small : small + 0x10), size, content]);
  }

  function text(): [encoded: Buffer, said: string] {
    const content = often(0.9) ? Buffer.from(pick(words)) : some(between(0, 9));
    const first = pick([0xa1, 0xa3]);
    return [sized(first, content), content.toString(first === 0xa1 ? 'utf8' : 'ascii')];
  }

  function other([first, width]: (typeof others)[number]): [encoded: Buffer, said: Said] {
    const encoded = Buffer.concat([bytes(first), some(width)]);
    if (first === 0x72) return [encoded, String(encoded.readFloatBE(1))];
    if (first === 0x82) return [encoded, String(encoded.readDoubleBE(1))];
    const hex = encoded.toString('hex', 1);
    const groups = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)];
    return [encoded, first === 0x98 ? groups.join('-') : { type: 'decimal' }];
  }

  function character(): [encoded: Buffer, said: Said] {
    const point = pick([0x41, 0x1_f600, 0xd7ff, 0xd800, 0xdfff, 0xe000, 0x10_ffff, 0x11_0000]);
    const isOne = point < 0xd800 || (point > 0xdfff && point < 0x11_0000);
    return [code(0x73, point.toString(16).padStart(8, '0')), isOne ? String.fromCodePoint(point) : { type: 'char' }];
  }

  function timestamp(): [encoded: Buffer, said: Said] {
    const [encoded, bits] = integer(0x83, 8);
    const time = new Date(Number(BigInt.asIntN(64, bits)));
    return [encoded, Number.isNaN(time.getTime()) ? { type: 'timestamp' } : time.toISOString()];
  }

  const constants = { 64: null, 65: 'true', 66: 'false', 67: '0', 68: '0' } as const;
  const unsigned = [
    [0x50, 1],
    [0x52, 1],
    [0x53, 1],
    [0x60, 2],
    [0x70, 4],
    [0x80, 8],
  ] as const;
  const signed = [
    [0x51, 1],
    [0x54, 1],
    [0x55, 1],
    [0x61, 2],
    [0x71, 4],
    [0x81, 8],
  ] as const;
  const others = [
    [0x72, 4],
    [0x82, 8],
    [0x98, 16],
    [0x74, 4],
    [0x84, 8],
    [0x94, 16],
  ] as const;

  function item(): [encoded: Buffer, said: Said] {
    switch (between(0, 9)) {
      case 0: {
        const first = pick(Object.keys(constants));
        return [bytes(Number(first)), constants[Number(first) as keyof typeof constants]];
      }
      case 1: {
        const isTrue = often(0.5);
        return [bytes(0x56, Number(isTrue)), String(isTrue)];
      }
      case 2: {
        const [first, width] = pick(unsigned);
        const [encoded, bits] = integer(first, width);
        return [encoded, String(bits)];
      }
      case 3: {
        const [first, width] = pick(signed);
        const [encoded, bits] = integer(first, width);
        return [encoded, String(BigInt.asIntN(8 * width, bits))];
      }
      case 4:
        return other(pick(others));
      case 5:
        return often(0.5) ? timestamp() : character();
      case 6:
        return [sized(0xa0, some(pick([0, 8, 16, 256]))), { type: 'binary' }];
      default:
        return text();
    }
  }

  /** A list or map of so many values. */
  function several(kind: 0xc0 | 0xc1, values: readonly Buffer[]): Buffer {
    const content = Buffer.concat(values);
    const isSmall = content.length < 255 && values.length < 256 && often(0.8);
    if (!isSmall) return compound(kind + 0x10, values.length, content);
    return Buffer.concat([bytes(kind, content.length + 1, values.length), content]);
  }

  /** @param odd how likely is what no usual map has */
  function map(odd: number): [encoded: Buffer, says: Map<string, Said>] {
    const says = new Map<string, Said>();
    const values: Buffer[] = [];
    for (let left = often(0.01) ? pick([500, 501]) : between(0, 8); left > 0; left -= 1) {
      const [key, name] = often(odd) ? [code(0x71, '000f4240'), undefined] : text();
      const [value, said] = often(odd) ? pick(nested) : item();
      values.push(key, value);
      if (name !== undefined) says.set(name, said);
    }
    return [several(0xc1, values), says];
  }

  const list = (most: number) =>
    often(0.1)
      ? bytes(0x45)
      : several(
          0xc0,
          Array.from({ length: between(0, most) }, () => item()[0]),
        );

  function message(): { encoded: Buffer; says: ReadonlyMap<string, Said> } {
    const odd = pick([0, 0, 0.1]);
    const [properties, says] = map(odd);
    const data = () => [0x75, sized(0xa0, some(between(0, 20)))] as const;
    const value = () => [0x77, often(0.5) ? pick(nested)[0] : item()[0]] as const;
    const usual = [
      [0x70, list(5)],
      [0x71, map(odd)[0]],
      [0x72, map(odd)[0]],
      [0x73, list(13)],
    ] as const;
    const all: (readonly [number, Buffer])[] = [...usual.filter(() => often(0.6)), [0x74, properties]];
    if (often(odd)) all.reverse();
    if (often(odd)) all.push(pick(all));
    if (often(0.8))
      all.push(...(often(odd) ? pick([[value()], [data(), data()], [[0x76, list(9)]] as const]) : [data()]));
    if (often(odd)) all.push([0x78, map(odd)[0]]);
    const isLong = often(odd);
    const encoded = all.flatMap(([kind, one]) => [
      isLong ? code(0, `80 ${kind.toString(16).padStart(16, '0')}`) : bytes(0, 0x53, kind),
      one,
    ]);
    return { encoded: Buffer.concat(encoded), says };
  }

  /** The same with a few other bytes, or cut off. */
  function damaged(encoded: Buffer): Buffer {
    const copy = Buffer.from(encoded.subarray(0, often(0.2) ? between(0, encoded.length) : encoded.length));
    for (let left = between(0, 3); left > 0 && copy.length > 0; left -= 1) {
      const place = between(0, copy.length - 1);
      const next = (copy[place] ?? 0) + pick([-1, 1]);
      copy[place] = pick([next, between(0, 255), pick([0, 0x40, 0x45, 0x80, 0x83, 0xa1, 0xb1, 0xc1, 0xd1, 0xf0])]);
    }
    return copy;
  }
  return { message, damaged, isDamaged: () => often(0.3) };
}

it(`any message is decoded as by the library, its application properties exactly (${saySeed(firstSeed())})`, () => {
  const { message, damaged, isDamaged } = createMessages(createRandom(firstSeed()));
  const count = { usual: 0, other: 0, damaged: 0 };
  for (let left = runs(2_000); left > 0; left -= 1) {
    const { encoded, says } = message();
    if (isDamaged()) {
      decodedLikeLibrary(damaged(encoded));
      count.damaged += 1;
      continue;
    }
    const read = decodedLikeLibrary(encoded);
    count[usual(encoded) ? 'usual' : 'other'] += 1;
    for (const [name, expected] of says) {
      if (!isDeepStrictEqual(said(read?.[name]), expected))
        expect([name, said(read?.[name])], encoded.toString('hex')).toEqual([name, expected]);
    }
  }
  expect(Math.min(...Object.values(count))).toBeGreaterThan(100);
});
