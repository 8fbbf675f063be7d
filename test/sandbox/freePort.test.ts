import { createServer } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';

// A port for a program that starts in a moment.

const { randomInt } = vi.hoisted(() => ({ randomInt: vi.fn<(min: number, max: number) => number>() }));
vi.mock('node:crypto', async (original) => ({ ...(await original<object>()), randomInt }));

const free = async () => (await import('../../sandbox/service/freePort.ts')).freePort();
const random = (min: number, max: number) => min + Math.floor(Math.random() * (max - min));

async function listening(port: number): Promise<number> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return (server.address() as { port: number }).port;
}

it('a free port is neither ephemeral, nor in use, nor one that fetch refuses', async () => {
  const taken = await listening(0);
  randomInt.mockReturnValueOnce(taken).mockImplementation((min, max) => {
    expect([min, max]).toEqual([10_081, 32_768]);
    return random(min, max);
  });
  const port = await free();
  expect(port).toBeGreaterThanOrEqual(10_081);
  await expect(fetch('http://127.0.0.1:10080/')).rejects.toMatchObject({ cause: { message: 'bad port' } });
  expect(port).toBeLessThan(32_768);
  expect(await listening(port)).toBe(port);
});

it('a free port is returned once', async () => {
  randomInt.mockReset().mockImplementation(random);
  const first = await free();
  randomInt.mockReturnValueOnce(first);
  expect(await free()).not.toBe(first);
});

it('a free port is searched a hundred times at most', async () => {
  const taken = await listening(0);
  randomInt.mockReset().mockReturnValue(taken);
  await expect(free()).rejects.toThrow('No free TCP port between 10081 and 32767');
  expect(randomInt).toHaveBeenCalledTimes(100);
});
