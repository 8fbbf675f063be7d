import { createLineOf } from '@device-messaging/telemetry/log.ts';
import { createErrorFields } from '@device-messaging/telemetry/secrets.ts';
import { printableJson } from '@device-messaging/telemetry/text.ts';
import fc from 'fast-check';
import { pino } from 'pino';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createLog } from '../../src/observing/log.ts';

/** The lines of our log are, byte for byte, those of pino with the options that the log gives it (D355). */

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));

type Level = 'info' | 'warn' | 'error' | 'fatal';

function linesOf(write: (destination: { write(line: string): void }) => void): string {
  const lines: string[] = [];
  try {
    write({ write: (line) => void lines.push(line) });
  } catch (error) {
    lines.push(`threw ${error}`);
  }
  return lines.join('');
}

/** As they were before the log made lines itself. */
const linesOfPino = (level: Level, event: string | undefined, fields: object, message: string, instance?: string) =>
  linesOf((destination) => {
    const options = {
      base: instance === undefined ? null : { instance },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label: string) => ({ level: label }) },
      serializers: { err: createErrorFields(['s3cret']) },
      hooks: { streamWrite: printableJson },
    };
    pino(options, destination)[level](event === undefined ? fields : { event, ...fields }, message);
  });

const linesOfOurs = (level: Level, fields: object, message: string, instance?: string) =>
  linesOf((destination) => {
    const log = createLog('info', destination, { secrets: ['s3cret'], ...(instance !== undefined && { instance }) });
    log[level](fields, message as never);
  });

/** Any text: of half surrogate pairs, of controls, and of more than the hundred characters up to which pino escapes by itself. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 120 }).map((units) => String.fromCharCode(...units)),
  fc.constantFrom('\ud83d', '\\ud83d', '\ud83d\ude00', '"\\\u2028\u202e\u007f\u0000', 'x'.repeat(101)),
);
const cyclic: { self?: object } = {};
cyclic.self = cyclic;
const scalar = fc.oneof(
  text,
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constantFrom(undefined, null, -0, 1e21, 10n, Symbol('x'), () => 1, cyclic, new Date(0), new Error('s3cret')),
  fc.constantFrom(new Map([[1, 2]]), /x/, Object.create({ inherited: 1 }), { toJSON: () => 'own' }),
);
const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.dictionary(text, scalar, { maxKeys: 3 }));
/** No field has a number for its name: an object would have it before the event. */
const name = fc
  .oneof(text, fc.constantFrom('device', 'ms', 'err', 'event', 'msg', 'level', 'time', '__proto__'))
  .filter((one) => !/^\d+$/.test(one));
const fields = fc.array(fc.tuple(name, value), { maxLength: 8 }).map((members) => Object.fromEntries(members));
const message = fc.constantFrom('handled', 'partition released', 'unforeseen failure');
const events: Readonly<Record<string, string>> = {
  'partition released': 'partition.released',
  'unforeseen failure': 'message.failed_unforeseen',
};

describe('a line of the log', () => {
  it('is that of pino, whatever its fields', () =>
    fc.assert(
      fc.property(
        fc.constantFrom<Level>('info', 'warn', 'error', 'fatal'),
        fields,
        message,
        fc.option(text, { nil: undefined }),
        fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }),
        (level, some, said, instance, now) => {
          vi.setSystemTime(now);
          expect(linesOfOurs(level, some, said, instance)).toBe(linesOfPino(level, events[said], some, said, instance));
        },
      ),
      { numRuns: 400 },
    ));

  it('is not left to pino because of what a device has sent', () => {
    const lineOf = createLineOf('host-1');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (device) => {
        const line = lineOf(
          'info',
          undefined,
          { device, correlationId: undefined, backends: { x: { ms: 1 } } },
          'handled',
        );
        expect(line).toContain(
          `"instance":"host-1","device":${JSON.stringify(device)},"backends":{"x":{"ms":1}},"msg"`,
        );
      }),
    );
  });

  it('is not made below the level of the log', () => {
    const seen = linesOf((destination) => {
      const log = createLog('warn', destination);
      log.info({ device: 'd1' }, 'handled');
      log.level = 'info';
      log.info({ device: 'd2' }, 'handled');
      log.level = 'silent';
      log.fatal({}, 'unforeseen failure' as never);
    });
    expect(seen).toMatch(/^\{"level":"info",[^\n]*"device":"d2","msg":"handled"\}\n$/);
  });
});
