import { AxiosError, AxiosHeaders } from 'axios';
import { expect, it } from 'vitest';
import { createLog } from '../../src/log/log.ts';

function logged(write: (log: ReturnType<typeof createLog>) => void): Record<string, unknown> {
  const lines: string[] = [];
  write(createLog('info', { write: (line) => void lines.push(line) }));
  return JSON.parse(lines[0] ?? '');
}

it('keeps of an error only what explains it, not the request it carries', () => {
  const config = { headers: new AxiosHeaders({ authorization: 'Bearer s3cret' }), data: 's3cret' };
  const cause = new AxiosError('connect failed', 'ECONNREFUSED', config);
  const line = logged((log) => log.error({ err: new Error('no answer', { cause }) }, 'unforeseen failure'));
  expect(JSON.stringify(line)).not.toContain('s3cret');
  expect(line).toMatchObject({
    level: 'error',
    err: { type: 'Error', message: 'no answer', cause: { code: 'ECONNREFUSED', message: 'connect failed' } },
  });
});

it('writes what was thrown even when it is no error', () => {
  expect(logged((log) => log.error({ err: 'just text' }, 'event passed over'))).toMatchObject({ err: { message: 'just text' } });
});
