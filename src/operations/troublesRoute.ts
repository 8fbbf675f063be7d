import { createErrorFields } from 'telemetry/errorFields.ts';
import type { SecretList } from 'telemetry/secretList.ts';
import type { LogLines } from '../log/log.ts';
import { currentTroubles } from '../log/troubles.ts';
import { createTapLines } from '../tap/tapLines.ts';
import type { AdminRoute } from './adminServer.ts';

const most = 100;

/**
 * `GET /troubles`: what the log has said is wrong, and has not said is over.
 * @param secrets texts that no answer may have
 */
export function troublesRoute(log: LogLines, secrets: SecretList): AdminRoute {
  const fieldsOfError = createErrorFields(secrets);
  const lineOf = createTapLines(secrets);

  /** Errors of clients have requests in them: what is kept of them is what the log keeps, without the stack. */
  function plain(value: unknown): unknown {
    if (!(value instanceof Error)) return value;
    const { stack: _, ...rest } = { stack: '', ...fieldsOfError(value) };
    return rest;
  }

  return {
    about: 'what is wrong at the moment, as the log has it, and for how long',
    get() {
      const all = currentTroubles(log);
      const troubles = all.slice(0, most).map(({ fields, ...trouble }) => {
        const entries = Object.entries(fields).map(([name, value]) => [name, plain(value)]);
        return { ...trouble, fields: JSON.parse(lineOf(Object.fromEntries(entries))) };
      });
      return { troubles, further: all.length - troubles.length };
    },
  };
}
