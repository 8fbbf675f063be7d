import { expect, it, onTestFinished } from 'vitest';
import { serveHealth } from '../../edge/src/operations/health.ts';

async function setUp() {
  let missing: string[] = [];
  const health = await serveHealth(
    '127.0.0.1',
    0,
    () => missing,
    () => '',
  );
  onTestFinished(() => health.close());
  return {
    lack(...what: string[]) {
      missing = what;
    },
    async ask(path: string) {
      const response = await fetch(`http://127.0.0.1:${health.port}${path}`);
      return [response.status, await response.json()];
    },
  };
}

it('The edge proxy has started when it was ready once, whatever is missing since then', async () => {
  const { lack, ask } = await setUp();
  lack('the broker: connection refused');
  expect(await ask('/startupz')).toEqual([
    503,
    { status: 'not started', waitingFor: ['the broker: connection refused'] },
  ]);
  lack();
  expect(await ask('/startupz')).toEqual([200, { status: 'started' }]);
  lack('the hub: no answer');
  expect(await ask('/startupz')).toEqual([200, { status: 'started' }]);
  expect(await ask('/readyz')).toEqual([503, { status: 'not ready', waitingFor: ['the hub: no answer'] }]);
  expect(await ask('/startupz')).toEqual([200, { status: 'started' }]);
  expect(await ask('/livez')).toEqual([200, { status: 'alive' }]);
});
