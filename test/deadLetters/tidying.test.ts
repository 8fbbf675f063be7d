import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createDirectory } from '../../src/deadLetters/directory.ts';
import { createHandling } from '../../src/handling.ts';
import { createLog } from '../../src/log/log.ts';
import { readSettings } from '../../src/settings/config.ts';
import { lettersIn } from '../support/letters.ts';

const settings = readSettings(
  {
    HUB_EVENTS_CONNECTION_STRING: 'Endpoint=sb://hub.example/;SharedAccessKeyName=n;SharedAccessKey=k;EntityPath=hub',
    HUB_SERVICE_CONNECTION_STRING: 'HostName=hub.example;SharedAccessKeyName=n;SharedAccessKey=k',
    INFORMATION_MODEL_URL: 'http://im.example',
    TYPE_REGISTRY_URL: 'http://tr.example',
    PRINCIPAL_MANAGER_URL: 'http://pm.example',
    BACKENDS_TOKEN: 't',
  },
  'no-such-directory',
);
const hourMs = 60 * 60_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('Dead letters are tidied up every hour, whether one is parked or not, and also after a failure', async () => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => void lines.push(line) });
  const tidy = vi.fn(() => Promise.reject(new Error('not there')));
  const handling = createHandling(settings, log, { ...lettersIn(createDirectory('no-such-directory')), tidy });
  await vi.advanceTimersByTimeAsync(2 * hourMs);
  expect(tidy).toHaveBeenCalledTimes(2);
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(Array(2).fill('dead letters cannot be tidied up'));
  await handling.close();
  await vi.advanceTimersByTimeAsync(2 * hourMs);
  expect(tidy).toHaveBeenCalledTimes(2);
});
