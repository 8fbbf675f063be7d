import { serveHealth } from '@device-messaging/telemetry/health.ts';
import { droppedLines } from '@device-messaging/telemetry/log.ts';
import { createLog } from '../../src/observing/log.ts';

/** Writes numbered lines until it is told to end, and tells when the first of them are dropped. */

const log = createLog('info');
const settings = { host: 'A_HOST', port: 'A_PORT' };
const { port } = await serveHealth({ host: '127.0.0.1', port: 0, settings }, { missing: () => [] });
const more = 'x'.repeat(500);
let number = 0;
let isTold = false;

function write() {
  for (let count = 0; count < 100; count += 1) {
    log.info({ number, more }, 'handled');
    number += 1;
  }
  if (!isTold && droppedLines() > 0) {
    isTold = true;
    process.send?.({ port });
  }
  setImmediate(write);
}

write();
process.once('message', () => process.send?.({ number }, () => process.exit(0)));
