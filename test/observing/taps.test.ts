import { describe, expect, it } from 'vitest';
import { createTapLines, createTaps, redactedJson, type TapEvent } from '../../src/observing/taps.ts';

describe('the taps on a device', () => {
  it('get the events of its messages, and of no other device', () => {
    const taps = createTaps();
    const told: TapEvent[] = [];
    expect(taps.of('pump-1', { partition: '0', sequenceNumber: 7 })).toBeUndefined();
    const stop = taps.open({ device: 'pump-1', follow: (event) => told.push(event) });
    expect(taps.of('pump-2', { partition: '0', sequenceNumber: 8 })).toBeUndefined();
    const tell = taps.of('pump-1', { partition: '0', sequenceNumber: 7 });
    tell?.('read', { bytes: 2 });
    const event = { time: expect.stringMatching(/^\d{4}-.*Z$/), stage: 'read', device: 'pump-1', bytes: 2 };
    expect(told).toEqual([{ ...event, partition: '0', sequenceNumber: 7 }]);
    stop?.();
    tell?.('handled', {});
    expect([told.length, taps.of('pump-1', { partition: '0', sequenceNumber: 9 })]).toEqual([1, undefined]);
  });

  it('all get the events of a whole partition, each with its own device', () => {
    const taps = createTaps();
    const told: TapEvent[] = [];
    expect(taps.all({ partition: '0', sequenceNumber: 7 })).toBeUndefined();
    for (const device of ['pump-1', 'pump-2']) taps.open({ device, follow: (event) => told.push(event) });
    taps.all({ partition: '0', sequenceNumber: 7 })?.('gap', { missing: 2 });
    expect(told).toMatchObject(
      ['pump-1', 'pump-2'].map((device) => ({ stage: 'gap', device, partition: '0', sequenceNumber: 7, missing: 2 })),
    );
  });

  it('are four at most', () => {
    const taps = createTaps();
    const ends = [1, 2, 3, 4].map((number) => taps.open({ device: `d${number}`, follow() {} }));
    expect(ends.every((end) => end !== undefined)).toBe(true);
    expect(taps.open({ device: 'd5', follow() {} })).toBeUndefined();
    ends[0]?.();
    expect(taps.open({ device: 'd5', follow() {} })).toBeDefined();
  });

  it('get no more events after an error: the message continues', () => {
    const taps = createTaps();
    let calls = 0;
    taps.open({
      device: 'd1',
      follow() {
        calls += 1;
        throw new Error('a defect of the tap');
      },
    });
    const tell = taps.of('d1', { partition: '0', sequenceNumber: 1 });
    tell?.('read', {});
    tell?.('begun', {});
    expect(calls).toBe(1);
  });
});

describe('a line of the tap', () => {
  const canary = 'Y2FuYXJ5IHNpbmdz';
  const lineOf = createTapLines([canary]);

  it('has no secret: neither a known one, nor one recognised by its form or name', () => {
    const line = lineOf(
      {
        stage: 'read',
        details: `the key ${canary} is refused; Bearer abc.def.ghi`,
        path: 'https://b.example/c?sig=signature%3D',
        properties: { context: `SharedAccessKey=${canary}`, publicKey: 'open', token: 'sesame' },
      },
      { body: `{"publicKey":"open","note":"${canary}"}`, request: undefined },
    );
    for (const secret of [canary, 'abc.def.ghi', 'signature%3D', 'open', 'sesame']) expect(line).not.toContain(secret);
    expect(JSON.parse(line)).toMatchObject({ body: '{"publicKey":"…","note":"…"}', properties: { publicKey: '…' } });
  });

  const token = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzZXJ2aWNlIn0.q5-sIgNaTuRe_w7';
  const around = ['', 'x', 'xy', 'xyz', 'Bearer ', 'user:'];
  const encodings = ['base64', 'base64url'] as const;
  const encoded = around.flatMap((before) => encodings.map((encoding) => [before, encoding] as const));

  it.each(encoded)('has no token and no known secret after %j in %s, in texts and bodies', (before, encoding) => {
    for (const secret of [canary, token]) {
      const code = Buffer.from(`${before}${secret}, and more`).toString(encoding);
      for (const echo of [code, encodeURIComponent(code), code.slice(4, -9), code.toLowerCase()]) {
        const line = lineOf({ stage: 'attempt', echo }, { response: JSON.stringify({ a: [{ echo }] }) }, token);
        const { echo: shown, response } = JSON.parse(line);
        const [{ echo: shownInBody }] = JSON.parse(response).a;
        expect(shownInBody).toBe(shown);
        const parts = Array.from({ length: secret.length - 8 }, (_, at) => secret.slice(at, at + 9));
        const left = Buffer.from(shown.replaceAll('…', ''), encoding).toString('latin1');
        expect(parts.filter((part) => left.includes(part))).toEqual([]);
        expect(shown.length).toBeLessThanOrEqual(echo.length - secret.length);
      }
    }
  });

  it('has the token of no earlier call, when a later stage has none', () => {
    const own = createTapLines([]);
    own({ stage: 'attempt' }, {}, token);
    expect(own({ stage: 'reply', echo: token })).toContain('"echo":"…"');
    expect(own({ stage: 'attempt', echo: 'another-token' }, {}, 'another-token')).toContain('"echo":"…"');
  });

  it('is one short line, and cannot control a terminal', () => {
    const line = lineOf({ stage: 'read', properties: { a: `\u001b[2J\n\u202e${'x'.repeat(10_000)}` } });
    expect(line.length).toBeLessThan(3_000);
    expect(line.slice(0, -1)).toMatch(/^[\x20-\x7e…]+$/);
    expect(line.endsWith('\n')).toBe(true);
  });

  it('has a bounded number and depth of members', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`p${index}`, 'x']));
    const event = JSON.parse(lineOf({ stage: 'read', properties: many, a: { b: { c: { d: { e: 1 } } } } }));
    expect([Object.keys(event.properties).length, event.a]).toEqual([100, { b: { c: { d: '…' } } }]);
  });
});

const same = (text: string) => text;

describe('a body that is shown', () => {
  it.each([
    ['{"a": 1, "publicKey": "secret", "b": 2}', '{"a":1,"publicKey":"…","b":2}'],
    ['{"publicKey":{"x":"secret","y":["secret",{"z":1}]},"b":[1,2]}', '{"publicKey":"…","b":[1,2]}'],
    ['{"keys":["secret","secret"],"a":{"token":"secret"}}', '{"keys":"…","a":{"token":"…"}}'],
    ['[{"password":"secret"},{"password":null},"key"]', '[{"password":"…"},{"password":"…"},"key"]'],
    [String.raw`{"public\u004bey":"secret\"}","a":1}`, String.raw`{"public\u004bey":"…","a":1}`],
    ['{"key":"secret"}', '{"key":"…"}'],
    ['{"a":{"key":-1.5e3},"sig":"secret"}', '{"a":{"key":"…"},"sig":"…"}'],
    ['{"value":{"SharedAccessSignature":"secret"}}', '{"value":{"SharedAccessSignature":"…"}}'],
  ])('%s hides members with the name of a secret', (text, shown) => {
    expect(redactedJson(text, same)).toBe(shown);
    expect(redactedJson(Buffer.from(text), same)).toBe(shown);
    expect(shown).not.toContain('secret');
  });

  it('keeps numbers and texts unchanged', () => {
    const text = String.raw`{"big":12345678901234567890,"one":1.0,"text":"a\nb, {c: \"d\"}","none":null}`;
    expect(redactedJson(text, same)).toBe(text);
  });

  it('has no known secret in any text', () => {
    const scrub = (text: string) => text.replaceAll('canary', '…');
    const text = String.raw`{"note":"the c\u0061nary sings","canary":1}`;
    expect(redactedJson(text, scrub)).toBe('{"note":"the … sings","…":1}');
  });

  it.each([
    ['not JSON', '[8 bytes, not JSON]'],
    ['{"key":"secret"', '[15 bytes, not JSON]'],
    ['', '[0 bytes, not JSON]'],
    [`"${'x'.repeat(64 * 1024)}"`, `[${64 * 1024 + 2} bytes]`],
  ])('has only its size shown when it cannot be read or is too large (%#)', (text, shown) =>
    expect(redactedJson(text, same)).toBe(shown),
  );

  it('is read at any depth', () => {
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    expect(redactedJson(deep, same)).toBe(deep);
    expect(redactedJson(`{"key":${deep},"a":1}`, same)).toBe('{"key":"…","a":1}');
  });
});
