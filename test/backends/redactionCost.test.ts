import { expect, it } from 'vitest';
import { createRedaction } from '../../src/backends/redaction.ts';

const token = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzZXJ2aWNlIn0.q5-sIgNaTuRe_w7';
const redact = createRedaction(['c2VjcmV0LWtleS1vZi10aGUtaHViLTEyMw==', 'p+ss/wörd of client', 'tiny']);

it('redaction has a linear cost, whatever a device and a backend write', () => {
  const ordinary = { words: 'Version mismatch', body: JSON.stringify({ a: 'x'.repeat(500_000) }) };
  const hostile = [
    { words: 'a'.repeat(5_000_000), body: `[${Array(50_000).fill('"aaaaaaaa"').join()}]` },
    { words: 'a'.repeat(2_000), body: `["${'a'.repeat(500_000)}"]` },
    { words: 'property of', body: `[${Array.from({ length: 40_000 }, (_, i) => `"property${i}"`).join()}]` },
    { words: '"1" "2" '.repeat(250), body: `[${Array(250_000).fill('1').join()}]` },
    { words: '\\'.repeat(2_000), body: `["${'\\\\'.repeat(250_000)}"]` },
    { words: '"'.repeat(2_000), body: `["${'\\"'.repeat(250_000)}"]` },
    { words: 'x', body: '"'.repeat(500_001) },
  ];
  const cost = ({ words, body }: { words: string; body: string }) => {
    const began = process.cpuUsage();
    redact(words, token, body);
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1_000;
  };
  cost(ordinary);
  // Steps, not seconds, are what is bounded: a quadratic one would take minutes.
  expect(Math.max(...hostile.map(cost))).toBeLessThan(2_000);
});
