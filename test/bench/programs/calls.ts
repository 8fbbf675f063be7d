import { Pool } from 'undici';
import { createBackend } from '../../../src/backends/backend.ts';
import { createDeadline } from '../../../src/backends/deadline.ts';
import { createSending } from '../../../src/backends/sending.ts';
import { staticToken } from '../../../src/backends/tokens.ts';
import { createTroubles } from '../../../src/observing/log.ts';
import { createRedaction } from '../../../src/observing/redaction.ts';
import { keysOf } from '../../../src/protocol/json.ts';
import { courseOf } from '../../support/observed.ts';
import { answerParent } from '../processes/answerParent.ts';

/** Calls a backend, by the service's client or by undici alone. argv: `ours` or `undici`. */

type Calls = Readonly<{ port: number; calls: number; inFlight: number }>;

const body = JSON.stringify({ properties: { text: 'x'.repeat(1_000) } });
const path = '/echo';
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const seed = 'd3f3b7c6-52a1-5c0e-9c39-6f6f4f2e7a11';
const silent = { info() {}, warn() {}, error() {} };

function ours(port: number): () => Promise<void> {
  const bind = createSending(
    createBackend({
      ...{ backend: 'informationModel', url: `http://127.0.0.1:${port}`, tokens: staticToken('bench'), log: silent },
      troubles: createTroubles(silent),
      redact: createRedaction([]),
      settings: { attemptTimeoutSeconds: 30, connections: 64 },
    }),
  );
  return async () => {
    const call = {
      ...{ deviceId: 'device-1', correlationId: 'bench', observation: courseOf(), idempotencySeed: seed },
      deadline: createDeadline(300),
    };
    const { refusal } = await bind(call)({
      ...{ operation: 'read object model', method: 'POST', path, body },
      read: { keys: keysOf([]), result: ({ text }) => text },
    });
    if (refusal !== undefined) throw refusal;
  };
}

function undici(port: number): () => Promise<void> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 64 });
  return async () => {
    const answer = await pool.request({
      ...{ method: 'POST', path, body },
      headers: {
        ...{ authorization: 'Bearer bench', 'x-svc-device-id': 'device-1', 'x-correlation-id': 'bench', traceparent },
        'content-type': 'application/json',
        'idempotency-key': seed,
      },
    });
    if ((await answer.body.text()) !== body) throw new Error('another body came back');
  };
}

let call: (() => Promise<void>) | undefined;

answerParent({
  async post({ port, calls, inFlight }: Calls): Promise<number> {
    call ??= (process.argv[2] === 'ours' ? ours : undici)(port);
    const once = call;
    let left = calls;
    const before = process.cpuUsage();
    const worker = async () => {
      for (; left > 0; ) {
        left -= 1;
        await once();
      }
    };
    await Promise.all(Array.from({ length: inFlight }, worker));
    const { user, system } = process.cpuUsage(before);
    return user + system;
  },
});
process.send?.({});
