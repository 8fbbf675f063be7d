import { expect, it, onTestFinished } from 'vitest';
import { troublesRoute } from '../../src/admin/adminServer.ts';
import { createTroubles, withFields } from '../../src/observing/log.ts';
import { recordingLog } from '../support/observed.ts';

const secret = 'a-secret-of-the-settings';

/** Troubles of one program, and what the route shows of them. */
function setUp() {
  const log = recordingLog();
  const route = troublesRoute(log, [secret]);
  const shown = () => Object(route.get?.(new URLSearchParams())).troubles;
  return { troubles: createTroubles(log), shown, another: () => createTroubles(withFields(log, { part: 'backends' })) };
}

it('a trouble is shown while it lasts, with its numbers', () => {
  const { troubles, shown } = setUp();
  onTestFinished(() => troubles.close());
  const trouble = { level: 'error', message: 'checkpoint not written', fields: { partition: '3' } } as const;
  troubles.raise('a', { ...trouble, still: () => ({ waiting: 7 }) });
  troubles.raise('a', { ...trouble, still: () => ({ waiting: 8 }) });
  expect(shown()).toEqual([
    {
      ...{ event: 'checkpoint.not_written', level: 'error', message: 'checkpoint not written' },
      ...{ fields: { partition: '3', waiting: 8 }, times: 2, forSeconds: 0 },
    },
  ]);
  troubles.clear('a');
  expect(shown()).toEqual([]);
});

it('a trouble is no longer shown when its part is closed', () => {
  const { troubles, shown, another } = setUp();
  const rest = another();
  onTestFinished(() => rest.close());
  for (const part of [troubles, rest]) part.raise('b', { level: 'warn', message: 'the hub cannot be read' });
  expect(shown()).toHaveLength(2);
  troubles.close();
  expect(shown()).toHaveLength(1);
  expect(setUp().shown()).toEqual([]); // of another program
});

it('a trouble has no secret: neither in a text, nor in an error, nor in what an error carries', () => {
  const { troubles, shown } = setUp();
  onTestFinished(() => troubles.close());
  const error = Object.assign(new Error(`refused ${secret}`), { config: { headers: { authorization: secret } } });
  const fields = { err: error, where: `https://host/?sig=${secret}`, token: 'anything' };
  troubles.raise('c', { level: 'warn', message: 'no access token for the backends', fields });
  const text = JSON.stringify(shown());
  expect(text).toContain('refused');
  expect(text).not.toContain(secret);
  expect(text).not.toContain('anything');
});

it('at most a hundred troubles are shown, with the number of the others', () => {
  const log = recordingLog();
  const troubles = createTroubles(log);
  onTestFinished(() => troubles.close());
  for (let source = 0; source < 103; source += 1)
    troubles.raise(String(source), { level: 'warn', message: 'the hub cannot be read' });
  const { get } = troublesRoute(log, []);
  const { troubles: shown, further } = Object(get?.(new URLSearchParams()));
  expect([shown.length, further]).toEqual([100, 3]);
});

it('an error of a trouble is shown as the log has it, without its stack', () => {
  const { troubles, shown } = setUp();
  onTestFinished(() => troubles.close());
  const err = Object.assign(new TypeError('no answer'), { code: 'ECONNREFUSED' });
  troubles.raise('d', { level: 'warn', message: 'the hub cannot be read', fields: { err } });
  expect(shown()[0].fields).toEqual({ err: { type: 'TypeError', message: 'no answer', code: 'ECONNREFUSED' } });
});
