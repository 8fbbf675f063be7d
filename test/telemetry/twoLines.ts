import { createLog } from '../../src/observing/log.ts';

/** Writes two lines and ends, in the way that its argument names. */

const log = createLog('info');
log.info({ number: 1 }, 'handled');
log.info({ number: 2 }, 'handled');
switch (process.argv[2]) {
  case 'exit':
    process.exit(1);
    break;
  case 'throw':
    throw new Error('not caught');
  case 'flush':
    log.flush?.();
    process.kill(process.pid, 'SIGKILL');
    break;
  case 'kill':
    log.warn({}, 'backend is out, calls to it wait');
    process.kill(process.pid, 'SIGKILL');
}
