import { EventEmitter } from 'node:events';
import { logWarnings, switchLevelOnSignal } from '@device-messaging/telemetry/log.ts';
import { expect, it, vi } from 'vitest';
import { createLog } from '../../src/observing/log.ts';

it('the level switches to debug and back to that of the settings, with a line for each', () => {
  const lines: string[] = [];
  const log = createLog('warn', { write: (line) => void lines.push(line) });
  const process = new EventEmitter();
  switchLevelOnSignal(process, log);
  for (let signal = 0; signal < 3; signal += 1) {
    log.debug({ signal }, 'detail');
    process.emit('SIGUSR2');
  }
  log.debug({ signal: 3 }, 'detail');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { event: 'log.level_changed', logLevel: 'debug' },
    { level: 'debug', signal: 1 },
    { event: 'log.level_changed', logLevel: 'warn' },
    { event: 'log.level_changed', logLevel: 'debug' },
    { level: 'debug', signal: 3 },
  ]);
});

it('a warning of Node.js is a line at debug, and no plain text', () => {
  const program = new EventEmitter().on('warning', () => expect.unreachable());
  const debug = vi.fn();
  logWarnings(program, { debug });
  const err = new Error('url.parse() is deprecated');
  program.emit('warning', err);
  expect(debug.mock.calls).toEqual([[{ err }, 'warning of Node.js']]);
});
