import { tmpdir } from 'node:os';
import { onTestFinished } from 'vitest';
import { openSpool, type Spool } from '../../../src/engine/spool/spool.ts';

/** The service's own spool, closed after the test if the test has not done so. */
export function diskSpool(maxBytes = 1e8): Spool {
  const spool = openSpool(tmpdir(), `spool-${process.pid}-${Math.random()}`, { maxBytes, maxMessages: 1e5 });
  let isOpen = true;
  function close() {
    if (isOpen) spool.close();
    isOpen = false;
  }
  onTestFinished(close);
  return { ...spool, close };
}
