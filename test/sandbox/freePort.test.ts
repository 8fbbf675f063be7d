import { createServer } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';

// A port for a program that starts in a moment.

const { randomInt } = vi.hoisted(() => ({ randomInt: vi.fn<(min: number, max: number) => number>() }));
vi.mock('node:crypto', async (original) => ({ ...(await original<object>()), randomInt }));

async function listening(port: number): Promise<number> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return (server.address() as { port: number }).port;
}

it('a free port is neither ephemeral nor in use', async () => {
  const { freePort } = await import('../../sandbox/service/freePort.ts');
  const taken = await listening(0);
  randomInt.mockReturnValueOnce(taken).mockImplementation((min, max) => {
    expect([min, max]).toEqual([10_000, 32_768]);
    return min + Math.floor(Math.random() * (max - min));
  });
  const port = await freePort();
  expect(port).toBeGreaterThanOrEqual(10_000);
  expect(port).toBeLessThan(32_768);
  expect(await listening(port)).toBe(port);
});

it('a free port is returned once', async () => {
  const { freePort } = await import('../../sandbox/service/freePort.ts');
  const random = (min: number, max: number) => min + Math.floor(Math.random() * (max - min));
  randomInt.mockReset().mockImplementation(random);
  const first = await freePort();
  randomInt.mockReturnValueOnce(first);
  expect(await freePort()).not.toBe(first);
});

it('a free port is searched a hundred times at most', async () => {
  const { freePort } = await import('../../sandbox/service/freePort.ts');
  const taken = await listening(0);
  randomInt.mockReset().mockReturnValue(taken);
  await expect(freePort()).rejects.toThrow('No free TCP port between 10000 and 32767');
  expect(randomInt).toHaveBeenCalledTimes(100);
});
