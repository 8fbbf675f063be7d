import { get, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { beforeEach, expect, vi } from 'vitest';

/** What is waited for comes at once, or on a busy machine late. */
export const soon = { timeout: 120_000, interval: 25 };

/** Something that a test waits for, or has others wait for, until it is given. */
export function signal<T = void>(): { readonly given: Promise<T>; give(value: T): void } {
  let give: (value: T) => void = () => {};
  const given = new Promise<T>((resolve) => {
    give = resolve;
  });
  return { given, give };
}

/** The time of each test that follows is its own. */
export function withFakeTimers(): void {
  beforeEach(() => void vi.useFakeTimers());
}

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
  return output;
}

type TapLine = Readonly<Record<string, unknown>>;

/**
 * Follows a device on the admin port, does something, and reads until a line has this stage.
 * @param url with the query
 */
export async function linesUntil(
  url: string,
  headers: Readonly<Record<string, string>>,
  stage: string,
  act: () => Promise<unknown>,
): Promise<TapLine[]> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers }, resolve).on('error', reject);
  });
  expect(response.statusCode).toBe(200);
  const lines: TapLine[] = [];

  async function read() {
    for await (const line of createInterface(response)) {
      lines.push(JSON.parse(line));
      if (lines.at(-1)?.['stage'] === stage) return;
    }
    throw new Error(`the tap has ended without ${stage}: ${JSON.stringify(lines)}`);
  }

  try {
    await Promise.all([read(), act()]);
    return lines;
  } finally {
    response.destroy();
  }
}
