// @ts-check
import { readFileSync } from 'node:fs';

/**
 * Loaded into a process of azurite, which takes the keys of its accounts from the environment again every minute: here they are those in
 * a file, and a minute is short.
 */

const file = process.env['AZURITE_KEYS_FILE'] ?? '';
const minuteMs = 60_000;
const shortMs = 50;
const readKeys = () => {
  process.env['AZURITE_ACCOUNTS'] = readFileSync(file, 'utf8');
};

readKeys();
const { setInterval: startInterval } = globalThis;
globalThis.setInterval = /** @type {typeof setInterval} */ (
  (/** @type {() => void} */ run, /** @type {number} */ ms) =>
    ms === minuteMs
      ? startInterval(() => {
          readKeys();
          run();
        }, shortMs)
      : startInterval(run, ms)
);
