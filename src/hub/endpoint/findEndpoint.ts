import type { Settings } from '../../settings/config.ts';
import { hubLoginOf } from '../../settings/hubLogin.ts';
import { connectionStringTo } from './eventEndpoint.ts';
import type { FoundEndpoint } from './followHub.ts';
import { lookUpEndpoint } from './lookUp.ts';

/**
 * The event endpoint of the hub at this moment (D401).
 * @throws NoEndpoint
 */
export async function findEndpoint(hubConnectionString: string, answerMs: number): Promise<FoundEndpoint> {
  const login = hubLoginOf(hubConnectionString);
  const endpoint = await lookUpEndpoint(login, answerMs);
  return { ...endpoint, connectionString: connectionStringTo(endpoint, login) };
}

/** The settings as if an operator had set the endpoint that was found. */
export const settingsAt = <S extends Pick<Settings, 'hub'>>(
  settings: S,
  { connectionString }: Pick<FoundEndpoint, 'connectionString'>,
): S => ({ ...settings, hub: { ...settings.hub, eventsConnectionString: connectionString } });
