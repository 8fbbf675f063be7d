import { afterEach, beforeEach, vi } from 'vitest';

/** What the tests that follow write to standard output, and to standard error; empty before each. */
export function withOutput(): { printed: string; said: string } {
  const output = { printed: '', said: '' };
  const into = (name: keyof typeof output) => (text: unknown) => {
    output[name] += text;
    return true;
  };
  beforeEach(() => {
    Object.assign(output, { printed: '', said: '' });
    vi.spyOn(process.stdout, 'write').mockImplementation(into('printed'));
    vi.spyOn(process.stderr, 'write').mockImplementation(into('said'));
  });
  afterEach(() => void vi.restoreAllMocks());
  return output;
}
