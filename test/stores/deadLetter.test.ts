import { describe, expect, it } from 'vitest';
import { idOf, isLetterId, parse, print, UnreadableDeadLetter } from '../../src/stores/deadLetter.ts';
import { hubEvent } from '../support/events.ts';
import { letter } from '../support/letters.ts';

const again = (given: ReturnType<typeof letter>) => parse(print(given), idOf(given));

describe('a dead letter', () => {
  it('can be written with any body of an AMQP sender', () => {
    const event = { ...letter(1).event, body: { count: 2n ** 63n } };
    expect(again(letter(1, { event })).event.body).toEqual({ count: '9223372036854775808' });
  });

  it.each([
    ['a body that is no bytes', { body: { value: [1, 'two'] } }],
    ['a body of text', { body: 'text' }],
    ['no body', { body: undefined }],
    ['an empty body', { body: Buffer.alloc(0) }],
  ])('is read back completely after %s', (_what, more) => {
    const given = letter(1, { event: { ...letter(1).event, ...more } });
    expect(again(given).event).toMatchObject({ ...given.event, ...more });
  });

  it('keeps every property as text, whatever its name', () => {
    const properties = JSON.parse('{"__proto__":"a","constructor":"b","n":2}');
    const { event } = again(letter(1, { event: hubEvent({ properties, sequenceNumber: 1 }) }));
    expect(Object.entries(event.properties ?? {})).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['n', '2'],
    ]);
  });

  it('has an id that the device cannot turn into a path', () => {
    const id = idOf(letter(1, { deviceId: '../../etc/passwd' }));
    expect(id).toMatch(/^[0-9a-f]{32}\/001767323045678-0-0000000000000001$/);
    expect(isLetterId(id)).toBe(true);
    expect(['../../etc/passwd', 'notes', `${id}/x`, `x${id}`, ''].filter(isLetterId)).toEqual([]);
  });

  it.each([
    ['no JSON', '{"secret'],
    ['empty', ''],
    ['null', 'null'],
    ['of another format', print(letter(1)).replace('"format":1', '"format":2')],
    ['without an event', JSON.stringify({ ...JSON.parse(print(letter(1))), event: undefined })],
    ['without a time', print(letter(1)).replace('2026-01-02T03:04:05.678Z', 'secret')],
  ])('that is %s is refused by name, and its contents are not repeated', (_what, text) => {
    const id = idOf(letter(1));
    let refusal: unknown;
    try {
      parse(text, id);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(UnreadableDeadLetter);
    expect(String(refusal)).toContain(id);
    expect(String(refusal)).not.toContain('secret');
  });
});
