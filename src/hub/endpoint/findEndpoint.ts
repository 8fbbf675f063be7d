import type { Settings } from '../../settings/config.ts';
import { hubLoginOf } from '../../settings/derived.ts';
import { connectionStringTo, type EventEndpoint } from './eventEndpoint.ts';
import { lookUpEndpoint } from './lookUp.ts';

/**
 * The event endpoint of the hub at this moment (D401).
 * @throws NoEndpoint
 */
export const findEndpoint = (hubConnectionString: string, answerMs: number): Promise<EventEndpoint> =>
  lookUpEndpoint(hubLoginOf(hubConnectionString), answerMs);

/** The settings as if an operator had set the endpoint that was found. */
export const settingsAt = <S extends Pick<Settings, 'hub'>>(settings: S, endpoint: EventEndpoint): S => ({
  ...settings,
  hub: {
    ...settings.hub,
    eventsConnectionString: connectionStringTo(endpoint, hubLoginOf(settings.hub.serviceConnectionString)),
  },
});
