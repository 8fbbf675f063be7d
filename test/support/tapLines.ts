import { get, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';

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
