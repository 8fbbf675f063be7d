import { join } from 'node:path';
import { z } from 'zod';
import { createPageFiles } from '../../page/server/pageFiles.ts';
import type { Secret } from '../identity/rotatingSecret.ts';
import type { Log } from '../log/log.ts';
import type { MethodsSettings, Settings } from '../settings/config.ts';
import { redactedSettings, secretsOf } from '../settings/secrets.ts';
import { type AdminRoute, type AdminServer, startAdminServer } from './adminServer.ts';
import { troublesRoute } from './troublesRoute.ts';

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
): Promise<Pick<AdminServer, 'close'>> {
  const { host, port } = settings.admin;
  const common: Readonly<Record<string, AdminRoute>> = {
    '/settings': { about: 'all settings in effect, without secrets', get: () => redactedSettings(settings) },
    '/troubles': troublesRoute(log, () => secretsOf(settings)),
    '/level': {
      about: 'the level of the log; PUT {"level": "debug"} changes it until the next start',
      get: () => ({ level: log.level, atStart: settings.log.level }),
      put: (body) => changeLevel(log, newLevel.parse(body).level),
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

/** The line about it is written whatever the levels are. */
function changeLevel(log: Log, level: string) {
  log.level = 'info';
  log.info({ logLevel: level }, 'log level changed');
  log.level = level;
  return { level };
}
