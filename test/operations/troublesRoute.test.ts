import { expect, it, onTestFinished } from 'vitest';
import { createTroubles } from '../../src/log/troubles.ts';
import { troublesRoute } from '../../src/operations/troublesRoute.ts';
import { recordingLog } from '../support/recordingLog.ts';

const secret = 'a-secret-of-the-settings';

/** What the route shows of these troubles: other tests of the process may have some of their own. */
function shown(event: string) {
  const shownNow = troublesRoute([secret]).get?.(new URLSearchParams()) as { troubles: { event: string }[] };
  return shownNow.troubles.filter((one) => one.event === event);
}

it('a trouble is shown while it lasts, with its numbers', () => {
  const troubles = createTroubles(recordingLog());
  onTestFinished(() => troubles.close());
  const trouble = { level: 'error', message: 'checkpoint not written', fields: { partition: '3' } } as const;
  troubles.raise('a', { ...trouble, still: () => ({ waiting: 7 }) });
  troubles.raise('a', { ...trouble, still: () => ({ waiting: 8 }) });
  expect(shown('checkpoint.not_written')).toEqual([
    {
      ...{ event: 'checkpoint.not_written', level: 'error', message: 'checkpoint not written' },
      ...{ fields: { partition: '3', waiting: 8 }, times: 2, forSeconds: 0 },
    },
  ]);
  troubles.clear('a');
  expect(shown('checkpoint.not_written')).toEqual([]);
});

it('a trouble is no longer shown when its part is closed', () => {
  const troubles = createTroubles(recordingLog());
  troubles.raise('b', { level: 'warn', message: 'the hub cannot be read' });
  expect(shown('hub.unreadable')).toHaveLength(1);
  troubles.close();
  expect(shown('hub.unreadable')).toEqual([]);
});

it('a trouble has no secret: neither in a text, nor in an error, nor in what an error carries', () => {
  const troubles = createTroubles(recordingLog());
  onTestFinished(() => troubles.close());
  const error = Object.assign(new Error(`refused ${secret}`), { config: { headers: { authorization: secret } } });
  const fields = { err: error, where: `https://host/?sig=${secret}`, token: 'anything' };
  troubles.raise('c', { level: 'warn', message: 'no access token for the backends', fields });
  const text = JSON.stringify(shown('token.missing'));
  expect(text).toContain('refused');
  expect(text).not.toContain(secret);
  expect(text).not.toContain('anything');
});
