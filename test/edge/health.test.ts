import { expect, it, onTestFinished } from 'vitest';
import { serveHealth } from '../../edge/src/operations/health.ts';

async function setUp() {
  let missing: string[] = [];
  let remarks = {};
  const health = await serveHealth('127.0.0.1', 0, {
    missing: () => missing,
    remarks: () => remarks,
    metrics: () => '',
  });
  onTestFinished(() => health.close());
  return {
    lack(...what: string[]) {
      missing = what;
    },
    remark(next: object) {
      remarks = next;
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

it('The edge proxy is ready with a configuration that is refused, and says so', async () => {
  const { lack, remark, ask } = await setUp();
  const refused = { refusedConfiguration: ['line 3: modules[0].id: is missing'] };
  remark(refused);
  expect(await ask('/readyz')).toEqual([200, { status: 'ready', ...refused }]);
  lack('the hub: no answer');
  expect(await ask('/readyz')).toEqual([503, { status: 'not ready', waitingFor: ['the hub: no answer'], ...refused }]);
});
