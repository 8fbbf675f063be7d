import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { portForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { DemonstrationFailed } from '../../sandbox/demonstration/demonstrate.ts';
import { demonstrateMethods } from '../../sandbox/demonstration/demonstrateMethods.ts';
import type { InvocationResult } from '../../sandbox/demonstration/invocation.ts';
import { callFrontDoor } from '../../sandbox/invoke/call.ts';
import { freePort } from '../../sandbox/service/freePort.ts';
import { type Printer, silent } from '../../sandbox/terminal/print.ts';
import { validateExchange } from '../support/contracts.ts';
import { sandboxForAll } from './testSandbox.ts';

const sandbox = sandboxForAll({ methods: 'running', service: false });
const shown: string[] = [];
const printer: Printer = { ...silent, line: (text = '') => void shown.push(text) };

describe('the demonstration of remote methods', () => {
  let invoked: InvocationResult[];
  beforeAll(async () => (invoked = await demonstrateMethods(sandbox, { printer })));

  it('shows success and every class of refusal', () => {
    const statuses = new Set(invoked.map(({ exchange }) => exchange.status));
    expect([...statuses].sort()).toEqual([200, 400, 401, 403, 404, 409, 429, 503, 504]);
  });
  it('complies with the contract of the front door', () => {
    const breaches = invoked.flatMap(({ body, exchange: { url, status, answer } }) =>
      validateExchange({
        ...{ backend: 'methods', method: 'POST', path: new URL(url).pathname, requestBody: body, status },
        responseBody: answer,
      }),
    );
    expect(breaches).toEqual([]);
  });
  it('leaves a log line for each invocation, and neither token nor signature in log or output', async () => {
    const { logFile = '', tokens = {} } = sandbox.state.methods ?? {};
    const log = await readFile(logFile, 'utf8');
    expect(Object.keys(tokens)).toEqual(['invoker', 'reader', 'stranger', 'expired']);
    for (const { exchange } of invoked) expect(log.split(exchange.correlationId).length - 1).toBe(1);
    for (const text of [log, shown.join('\n')]) {
      expect(text).not.toMatch(/sig=[\w%]/);
      for (const token of Object.values(tokens)) expect(text).not.toContain(token);
    }
  });
  it('fails when the front door answers differently, and names the expectation', async () => {
    const id = sandbox.hub.faults.add({ kind: 'method', answer: 'refuse', errorCode: 429001 });
    const failed = demonstrateMethods(sandbox);
    await expect(failed).rejects.toThrow(DemonstrationFailed);
    await expect(failed).rejects.toThrow(/“An application stops a motor[^”]*” failed:\n {2}- status is 429/);
    sandbox.hub.faults.clear(id);
  });
  it('can be repeated in the same sandbox', () =>
    expect(demonstrateMethods(sandbox)).resolves.toHaveLength(invoked.length));
});

describe('a call of a front door that does not answer', () => {
  const request = { objectId: 'x', model: 'svc.device', method: 'stop', token: undefined, body: '{}' };
  const callAt = (url: string) => {
    const { methods, ...state } = sandbox.state;
    return callFrontDoor({ ...state, ...(methods && { methods: { ...methods, url } }) }, request, 5_000);
  };

  it('had no effect when there is no connection', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    await expect(callAt(url)).rejects.toMatchObject({ name: 'NoAnswer', wasAsked: false });
  });
  it('may have had an effect when the connection broke', async () => {
    const port = await portForTest(createServer((request) => request.socket.destroy()));
    await expect(callAt(`http://127.0.0.1:${port}`)).rejects.toMatchObject({ name: 'NoAnswer', wasAsked: true });
  });
});
