import { join } from 'node:path';
import type { Listening } from '@device-messaging/telemetry/health.ts';
import { createErrorFields, type SecretList } from '@device-messaging/telemetry/secrets.ts';
import { z } from 'zod';
import { createPageFiles } from '../../page/server/pageFiles.ts';
import type { Secret } from '../access/secretFiles.ts';
import { currentTroubles, type Log, type LogLines } from '../observing/log.ts';
import { createTapLines } from '../observing/taps.ts';
import type { MethodsSettings, Settings } from '../settings/config.ts';
import { redactedSettings, secretsOf } from '../settings/secrets.ts';
import { type AdminRoute, startAdminServer } from './adminServer.ts';

/** In the image: programs are in `dist/programs`, the page is in `dist/page`. */
const pageDirectory = join(import.meta.dirname, '../page');

const newLevel = z.strictObject({ level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal']) });

/**
 * Opens the admin port. When it is taken, the program goes on without it: it is a help in trouble, and must cause none
 * (D100).
 * @param about which program and which instance answers
 * @param routes of the program
 * @param token that of the settings when omitted
 */
export async function openAdmin(
  settings: Settings | MethodsSettings,
  log: Log,
  about: object,
  routes: Readonly<Record<string, AdminRoute>>,
  token: Secret = settings.admin.token,
): Promise<Pick<Listening, 'close'>> {
  const { host, port } = settings.admin;
  const common: Readonly<Record<string, AdminRoute>> = {
    '/settings': { about: 'all settings in effect, without secrets', get: () => redactedSettings(settings) },
    '/troubles': troublesRoute(log, () => secretsOf(settings)),
    '/level': {
      about: 'the level of the log; PUT {"level": "debug"} changes it until the next start',
      get: () => ({ level: log.level, atStart: settings.log.level }),
      put(body) {
        const { level } = newLevel.parse(body);
        log.level = 'info'; // the line about it is written whatever the levels are
        log.info({ logLevel: level }, 'log level changed');
        log.level = level;
        return { level };
      },
    },
  };
  const page = createPageFiles(pageDirectory);
  try {
    const server = await startAdminServer({ host, port, token, about, page, routes: { ...common, ...routes } });
    log.info({ adminHost: host, adminPort: server.port }, 'the admin port is open');
    return server;
  } catch (error) {
    log.warn({ err: error, adminHost: host, adminPort: port }, 'the admin port cannot be opened');
    return { close: async () => {} };
  }
}

const mostTroubles = 100;

/**
 * `GET /troubles`: what the log has said is wrong, and has not said is over.
 * @param secrets texts that no answer may have
 */
export function troublesRoute(log: LogLines, secrets: SecretList): AdminRoute {
  const fieldsOfError = createErrorFields(secrets);
  const lineOf = createTapLines(secrets);

  /** Errors of clients have requests in them: what is kept of them is what the log keeps, without the stack. */
  const plain = (value: unknown) => (value instanceof Error ? { ...fieldsOfError(value), stack: undefined } : value);

  return {
    about: 'what is wrong at the moment, as the log has it, and for how long',
    get() {
      const all = currentTroubles(log);
      const troubles = all.slice(0, mostTroubles).map(({ fields, ...trouble }) => {
        const entries = Object.entries(fields).map(([name, value]) => [name, plain(value)]);
        return { ...trouble, fields: JSON.parse(lineOf(Object.fromEntries(entries))) };
      });
      return { troubles, further: all.length - troubles.length };
    },
  };
}
